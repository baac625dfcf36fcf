import type { Client, EndpointFacts } from '@perwatt/core';

const hasEnded = ({ ended }: Client): boolean => ended?.aborted === true;

/** Keeps the last client open, so that cells of one model that follow one another load it once. */
export function createClientPool() {
  let open: { key: string; client: Client; facts: EndpointFacts } | null = null;
  const close = async () => {
    const { client } = open ?? {};
    open = null;
    await client?.close();
  };
  return {
    /** Closes the open client unless it is the one for `key` and lives. True when none is open afterwards. */
    async release(key: string): Promise<boolean> {
      if (open?.key === key && !hasEnded(open.client)) return false;
      await close();
      return true;
    },
    /** The open client for `key`, or a new one; a client that fails to open is closed again. */
    async open(key: string, make: () => Client): Promise<{ client: Client; facts: EndpointFacts }> {
      if (open?.key === key) return open;
      await close();
      const client = make();
      try {
        open = { key, client, facts: await client.open() };
      } catch (error) {
        await client.close();
        throw error;
      }
      return open;
    },
    close,
  };
}
