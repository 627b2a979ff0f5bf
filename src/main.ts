/** The one bundle. Each file in dist/ that is started or imported takes from here what it needs. */
export { runStructuredAgent, StructuredAgentError } from './library.ts';

export const startAction = () => import('./action.ts');
export const startCommandLine = () => import('./cli.ts');
export const startMerge = () => import('./merge/action.ts');
