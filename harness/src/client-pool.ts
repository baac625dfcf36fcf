import type { Client, EndpointFacts } from '@perwatt/core';

/** A client that is open, and what answers behind it. */
export interface OpenClient {
  readonly client: Client;
  readonly facts: EndpointFacts;
}

/** A client that a cell needs, by a key that equal ones share. */
export interface WantedClient {
  readonly key: string;
  readonly make: () => Client;
}

const hasEnded = ({ ended }: Client): boolean => ended?.aborted === true;

/** Keeps the clients of the last cell open, so that cells of the same models that follow one another load them once. */
export function createClientPool() {
  let open = new Map<string, OpenClient>();
  const close = async () => {
    const clients = [...open.values()];
    open = new Map();
    await Promise.all(clients.map(({ client }) => client.close()));
  };
  return {
    /** Closes what is open unless it is just what `keys` name and all of it lives. True when nothing is open afterwards. */
    async release(keys: readonly string[]): Promise<boolean> {
      const wanted = new Set(keys);
      const same = wanted.size === open.size && [...wanted].every((key) => open.has(key));
      if (same && ![...open.values()].some(({ client }) => hasEnded(client))) return false;
      await close();
      return true;
    },
    /** The clients by key, opened one after the other where they are not; when one fails to open, all are closed again. */
    async open(wanted: readonly WantedClient[]): Promise<ReadonlyMap<string, OpenClient>> {
      try {
        for (const { key, make } of wanted) {
          if (!open.has(key)) open.set(key, await opened(make()));
        }
      } catch (error) {
        await close();
        throw error;
      }
      return open;
    },
    close,
  };
}

/** A client that fails to open is closed again. */
async function opened(client: Client): Promise<OpenClient> {
  try {
    return { client, facts: await client.open() };
  } catch (error) {
    await client.close();
    throw error;
  }
}
