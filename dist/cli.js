#!/usr/bin/env node
import { startCommandLine } from './main.js';
await startCommandLine();
