import { Hono, type Context } from 'hono';
import { conveyorError } from '../../domain/errors';
import { parseId } from '../../domain/ids';
import type { ServerDeps } from '../deps';
import { releaseVerb } from '../schemas';
import { commandOf, verbOf } from './pipelines';

type Deps = Pick<ServerDeps, 'client' | 'access'>;

/** `/v1/releases/<pipeline>/<n>` and, with `/<action>`, its deploys: their status, and commands to them. */
export function releaseRoutes({ client, access }: Deps): Hono {
  const app = new Hono();
  app.get('/:pipeline/:n', async (c) => c.json(await client.status(idOf(c))));
  app.get('/:pipeline/:n/:action', async (c) => c.json(await client.status(idOf(c))));
  const command = async (c: Context): Promise<Response> => {
    const verb = verbOf(c, releaseVerb.options);
    return c.json(await client.command(idOf(c), verb, await commandOf(c, verb, access)));
  };
  app.post('/:pipeline/:n/commands/:verb', command);
  app.post('/:pipeline/:n/:action/commands/:verb', command);
  return app;
}

/** What the parts of the path make; a slash that was written `%2F` may not make another id of it. */
function idOf(c: Context): string {
  const { pipeline, n, action } = c.req.param() as { pipeline: string; n: string; action?: string };
  const parts = [pipeline, n, ...(action === undefined ? [] : [action])];
  const text = parts.join('/');
  const id = parts.some((part) => part.includes('/')) ? undefined : parseId(text);
  if (id !== undefined && id.kind !== 'pipeline') return text;
  throw conveyorError('invalid-id', { text, expected: 'the id of a release or deploy' });
}
