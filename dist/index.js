import { startAction } from './main.js';
await startAction();
