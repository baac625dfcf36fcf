import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A repository of data sets as the hub serves it. */
export interface ServedRepo {
  readonly name: string;
  readonly commit: string;
  readonly files: Readonly<Record<string, string>>;
  /** Files are given only to this token. */
  readonly token?: string;
  /** What the listing says of a file's sha256, where that isn't the truth. */
  readonly says?: Readonly<Record<string, string>>;
}

/** A hub on this machine; `repos` may be replaced while it runs. */
export interface HubServer {
  readonly url: string;
  readonly asked: string[];
  repos: readonly ServedRepo[];
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const json = (response: ServerResponse, value: unknown) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

const refuse = (response: ServerResponse, status: number, code = '') =>
  response
    .writeHead(status, { 'content-type': 'application/json', 'x-error-code': code })
    .end(JSON.stringify({ error: `refused ${status}` }));

/** Serves info, listing and files of data sets the way the hub does, with byte ranges. */
export async function hubServer(repos: readonly ServedRepo[]): Promise<HubServer> {
  const hub = { url: '', asked: [] as string[], repos };
  const server = createServer((request, response) => {
    hub.asked.push(request.url ?? '');
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
    const repo = hub.repos.find(({ name }) => path.includes(`datasets/${name}/`));
    if (repo === undefined) return refuse(response, 401, 'RepoNotFound');
    const rest = path.slice(path.indexOf(repo.name) + repo.name.length + 1);
    if (rest.startsWith('revision/'))
      return json(response, { _id: '1', id: repo.name, sha: repo.commit, lastModified: '2026-01-01' });
    if (rest.startsWith('tree/')) return json(response, listing(repo));
    return sendFile(repo, rest.split('/').slice(2).join('/'), { request, response });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  hub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return hub;
}

const listing = ({ files, says }: ServedRepo) =>
  Object.entries(files).map(([path, text]) => {
    const size = Buffer.byteLength(text);
    const oid = says?.[path] ?? sha256(text);
    return { type: 'file', path, size, oid: 'git', lfs: { oid, size, pointerSize: 130 } };
  });

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

function sendFile({ files, token }: ServedRepo, file: string, { request, response }: Exchange) {
  if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
    return refuse(response, request.headers.authorization === undefined ? 401 : 403, 'GatedRepo');
  const text = files[file];
  if (text === undefined) return refuse(response, 404, 'EntryNotFound');
  const data = Buffer.from(text);
  const range = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '');
  if (range === null)
    return response.writeHead(200, { etag: '"x"', 'content-length': data.length }).end(data);
  const [from, to] = [Number(range[1]), range[2] === '' ? data.length - 1 : Number(range[2])];
  const part = data.subarray(from, to + 1);
  return response
    .writeHead(206, {
      etag: '"x"',
      'content-range': `bytes ${from}-${to}/${data.length}`,
      'content-length': part.length,
    })
    .end(part);
}
