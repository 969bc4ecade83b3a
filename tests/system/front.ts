import { createHmac, randomUUID } from 'node:crypto';
import { createPipelineIndex } from '../../client/pipelineIndex';
import type { ReleaseSummary } from '../../domain/views';
import type { Env, Running } from './process';
import type { Stack } from './stack';
import { eventually } from './waiting';

export const TOKEN = 'a-token-of-the-system-tests';
export const SECRET = 'a secret of the system tests';
const GITHUB_SECRET = 'another secret of the system tests';
export const SECRETS: Env = {
  CONVEYOR_CI_TOKEN: TOKEN,
  CONVEYOR_GITHUB_SECRET: GITHUB_SECRET,
  CONVEYOR_WEBHOOK_SECRET: SECRET,
};

/** The HTTP front end as a separate process, on its own port. */
export interface Front {
  readonly url: string;
  readonly process: Running;
}

export async function startFront(stack: Stack, port = 0, env: Env = {}): Promise<Front> {
  const all = { ...stack.env, ...SECRETS, ...env };
  const process = stack.processes.node('dist/server/main.js', ['--port', String(port)], all);
  const [, url = ''] = await process.said(/ready at (http:\S+)/);
  return { url, process };
}

/** A push to the branch main of acme's repository, as GitHub delivers it, with further fields of the repository. */
export function push(
  front: Front,
  repository: string,
  revision: string,
  delivery: string = randomUUID(),
  more: object = {},
): Promise<Response> {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    after: revision,
    repository: { name: repository, full_name: `acme/${repository}`, ...more },
  });
  return fetch(`${front.url}/v1/webhooks/github`, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': delivery,
      'x-hub-signature-256': `sha256=${createHmac('sha256', GITHUB_SECRET).update(body).digest('hex')}`,
    },
  });
}

/** A signed delivery of Standard Webhooks, about a published artifact. */
export function publish(front: Front, data: object): Promise<Response> {
  const body = JSON.stringify({ type: 'artifact.published', data });
  const id = randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', SECRET).update(`${id}.${timestamp}.${body}`).digest('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return fetch(`${front.url}/v1/webhooks/standard`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

export const revision = (n: number): string => n.toString(16).padStart(40, 'a');

/** A request with the token and a JSON answer. */
export async function ask<T>(
  front: Front,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: object,
  token: string = TOKEN,
) {
  const response = await fetch(`${front.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, location: response.headers.get('location'), body: (await response.json()) as T };
}

/** Waits until deliveries for a finder reach the pipeline. */
export async function subscribed(stack: Stack, finder: string, pipeline: string): Promise<void> {
  const index = createPipelineIndex(stack.temporal);
  await eventually(`${pipeline} is listed for ${finder}`, async () => {
    for await (const one of index.subscriptions(finder)) if (one.pipeline === pipeline) return true;
    return false;
  });
}

/** Every release that a pipeline ever had, oldest first. */
export async function releasesOf(stack: Stack, pipeline: string): Promise<readonly ReleaseSummary[]> {
  return [...(await stack.client.history(pipeline))].sort((a, b) => a.number - b.number);
}
