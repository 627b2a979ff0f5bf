#!/usr/bin/env node
Number(process.versions.node.split(".")[0])<22&&(console.error("structured-agent needs Node.js 22 or newer, and this is "+process.version+"."),process.exit(52)),await import("./index.js");
