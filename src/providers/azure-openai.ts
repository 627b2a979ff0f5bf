/** Azure OpenAI: chat completions of a deployment, through the SDK's client for it. */
import OpenAI, { AzureOpenAI } from 'openai';
import { createOpenAiChat } from './openai-chat.ts';
import { clientOptions } from './openai-client.ts';
import type { Provider } from './provider.ts';
import type { AdapterSettings } from './settings.ts';

/**
 * The newest dated version that is no preview; what came later lives at `/openai/v1`, which needs none.
 * @see https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
const defaultApiVersion = '2024-10-21';

/**
 * A provider for one deployment, whose name is the model. The base URL is the resource's endpoint, or any longer URL
 * of it that people copy: with `/openai`, with `/openai/v1`, or a deployment's whole target URI.
 */
export function createAzureOpenAi(settings: AdapterSettings): Provider {
  const url = new URL(settings.baseUrl);
  const version = url.searchParams.get('api-version');
  url.search = '';
  url.pathname = url.pathname.replace(/(?<!\/)\/+$/, '').replace(/\/chat\/completions$/, '');
  const options = clientOptions(settings);
  if (url.pathname.endsWith('/openai/v1')) {
    const defaultQuery = version === null ? {} : { 'api-version': version };
    return createOpenAiChat(settings, new OpenAI({ ...options, baseURL: url.href, defaultQuery }));
  }
  if (!/\/openai(\/|$)/.test(url.pathname)) url.pathname = `${url.pathname.replace(/\/$/, '')}/openai`;
  const client = new AzureOpenAI({
    ...options,
    baseURL: url.href,
    apiVersion: version ?? defaultApiVersion,
    deployment: encodeURIComponent(settings.model),
  });
  return createOpenAiChat(settings, client);
}
