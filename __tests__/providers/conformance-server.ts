/** Scripted servers, which are closed after each test, and the failure of a request. */
import type { ServerResponse } from 'node:http';
import { afterEach, vi } from 'vitest';
import { ProviderError } from '../../src/errors.ts';
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

export async function failure(
  work: Promise<unknown>,
): Promise<{ failure: string; status: number | null; requestId: string | null; message: string }> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProviderError)) throw new Error(`no ProviderError: ${String(error)}`);
  const { failure: kind, status, requestId, message } = error;
  return { failure: kind, status, requestId, message };
}

/** Makes retries immediate: the SDKs accept fractions of a second. */
export const atOnce = { 'retry-after': '0.001' };
