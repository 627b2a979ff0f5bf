import { startMerge } from './main.js';
await startMerge();
