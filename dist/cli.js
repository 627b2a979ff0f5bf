#!/usr/bin/env node
if(Number(process.versions.node.split(".")[0])<22){const message="structured-agent needs Node.js 22 or newer, and this is "+process.version+".";console.error(message),process.exit(52)}await import("./main.js");
