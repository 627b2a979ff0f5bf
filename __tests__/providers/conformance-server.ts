/** Scripted servers, which are closed after each test. */
import type { ServerResponse } from 'node:http';
import { afterEach, vi } from 'vitest';
import { type RawRequest, type RawServer, startRawServer } from '../support/fakes/raw-server.ts';

export const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of open.splice(0)) await server.close();
});

export async function raw(
  answer: (response: ServerResponse, request: RawRequest, index: number) => void,
): Promise<RawServer> {
  const server = await startRawServer(answer);
  open.push(server);
  return server;
}

/** Makes retries immediate: the SDKs accept fractions of a second. */
export const atOnce = { 'retry-after': '0.001' };
