/** A headless Chromium over its DevTools pipe: shows what a page displays, runs and reports. Needs no port and no network. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';

type Fields = Readonly<Record<string, unknown>>;

/** A controlled page. */
export interface Tab {
  /** The messages of the page: console, exceptions, policy violations, dialogs, requests. */
  readonly heard: readonly string[];
  /** Opens an address and waits for its load event. */
  open(url: string): Promise<void>;
  /** The value of an expression, by JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** Presses a key. */
  press(key: string, text?: string): Promise<void>;
  send(method: string, parameters?: Fields): Promise<Fields>;
}

/** A browser with one page. */
export interface Browser {
  readonly tab: Tab;
  close(): Promise<void>;
}

/** The browser that CHROMIUM names, or the first that is installed of those that speak the same protocol. */
function program(): string {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const found = names.find((name) => folders.some((folder) => existsSync(path.join(folder, name))));
  if (found === undefined)
    throw new Error(`None of ${names.join(', ')} is installed, and CHROMIUM names none.`);
  return found;
}

/** Starts a browser of this machine. @throws if none is installed. */
export async function openBrowser(): Promise<Browser> {
  const profile = mkdtempSync(path.join(os.tmpdir(), 'chromium-'));
  const flags = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--hide-scrollbars',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
    'about:blank',
  ];
  const child = spawn(program(), flags, {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
  const { ask, listeners } = connect(child, gone);
  const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await ask('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, parameters: Fields = {}) => ask(method, parameters, String(sessionId));
  return {
    tab: await createTab(send, listeners),
    async close() {
      // A regular exit ends its helpers first; after a kill they would still write to the profile.
      void ask('Browser.close', {}).catch(() => undefined);
      const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await gone;
      clearTimeout(late);
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

type Listener = (method: string, parameters: Fields) => void;

interface Connection {
  readonly listeners: Set<Listener>;
  ask(method: string, parameters: Fields, session?: string): Promise<Fields>;
}

/** Speaks the protocol over descriptors 3 and 4: messages of JSON, each ended by a NUL. */
function connect(child: ChildProcess, gone: Promise<void>): Connection {
  const [, , , input, output] = child.stdio;
  if (input === null || input === undefined || !('write' in input))
    throw new Error('No pipe to the browser.');
  if (output === null || output === undefined) throw new Error('No pipe from the browser.');
  const waiting = new Map<number, { resolve(value: Fields): void; reject(error: Error): void }>();
  const listeners = new Set<Listener>();
  let last = 0;
  let rest = '';
  // `gone` reports its end.
  input.on('error', () => {});
  const decoder = new StringDecoder('utf8');
  output.on('data', (chunk: Buffer) => {
    const messages = (rest + decoder.write(chunk)).split('\0');
    rest = messages.pop() ?? '';
    for (const text of messages) {
      const message: Fields = JSON.parse(text);
      const id = Number(message['id']);
      const asked = waiting.get(id);
      if (message['method'] !== undefined) {
        for (const hear of listeners) hear(String(message['method']), fields(message['params']));
      } else if (message['error'] !== undefined) asked?.reject(new Error(JSON.stringify(message['error'])));
      else asked?.resolve(fields(message['result']));
      waiting.delete(id);
    }
  });
  void gone.then(() => {
    for (const { reject } of waiting.values())
      reject(new Error('The browser is gone: is chromium installed?'));
  });
  const ask: Connection['ask'] = (method, parameters, session) =>
    new Promise((resolve, reject) => {
      last += 1;
      waiting.set(last, { resolve, reject });
      const envelope = {
        id: last,
        method,
        params: parameters,
        ...(session === undefined ? {} : { sessionId: session }),
      };
      input.write(`${JSON.stringify(envelope)}\0`);
    });
  return { ask, listeners };
}

async function createTab(
  send: Tab['send'],
  listeners: Set<(method: string, parameters: Fields) => void>,
): Promise<Tab> {
  const heard: string[] = [];
  let loaded = () => {};
  listeners.add((method, parameters) => {
    if (method === 'Page.loadEventFired') loaded();
    const url = String(fields(parameters['request'])['url']);
    const isPage = method === 'Network.requestWillBeSent' && parameters['type'] === 'Document';
    const tells =
      /^(?:Runtime\.(?:consoleAPICalled|exceptionThrown)|Log\.entryAdded|Page\.javascriptDialogOpening|Audits\.issueAdded|Network\.requestWillBeSent)$/;
    if (tells.test(method) && !isPage)
      heard.push(`${method} ${method.startsWith('Network') ? url : JSON.stringify(parameters)}`);
  });
  for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Audits']) await send(`${domain}.enable`);
  return {
    heard,
    send,
    async open(url) {
      const ready = new Promise<void>((resolve) => {
        loaded = resolve;
      });
      await send('Page.navigate', { url });
      await ready;
    },
    async evaluate(expression) {
      const answer = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
      if (answer['exceptionDetails'] !== undefined)
        throw new Error(JSON.stringify(answer['exceptionDetails']));
      return fields(answer['result'])['value'];
    },
    async press(key, text = key.length === 1 ? key : key === 'Enter' ? '\r' : '') {
      const codes: Readonly<Record<string, number>> = {
        Enter: 13,
        Escape: 27,
        Tab: 9,
        ArrowUp: 38,
        ArrowDown: 40,
      };
      const windowsVirtualKeyCode = codes[key] ?? key.toUpperCase().charCodeAt(0);
      const base = { key, windowsVirtualKeyCode, ...(text === '' ? {} : { text }) };
      await send('Input.dispatchKeyEvent', { type: text === '' ? 'rawKeyDown' : 'keyDown', ...base });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode });
    },
  };
}

function fields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
