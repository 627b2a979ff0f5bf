#!/usr/bin/env node
if (Number.parseInt(process.versions.node) < 24) {
  console.error('structured-agent needs Node 24 or newer.');
  process.exit(1);
}
const { startCommandLine } = await import('./main.js');
await startCommandLine();
