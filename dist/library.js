export { runStructuredAgent, StructuredAgentError } from './main.js';
