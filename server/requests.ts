import type { Context } from 'hono';
import type { z } from 'zod';
import type { Artifact } from '../domain/artifact';
import { conveyorError } from '../domain/errors';
import { unfitArtifacts, unfitKey } from '../domain/excess';
import { parseId, type Id } from '../domain/ids';
import { rejectInvalidInput } from './body';
import type { releaseRequest } from './schemas';

/** Parts of requests that several routes share. */

/** The artifacts of a request, with their kinds filled in. @throws ConveyorError `over-limit`, `invalid-text` */
export function parseArtifacts(artifacts: z.output<typeof releaseRequest>['artifacts']): readonly Artifact[] {
  const given = artifacts.map(({ kind, ...rest }): Artifact => ({ ...rest, kind: kind ?? rest.name }));
  rejectInvalidInput(unfitArtifacts(given));
  return given;
}

/** A name without a slash: `%2F` would turn it into another id. */
export function pipelineParam(c: Context): string {
  const name = c.req.param('name') ?? '';
  if (name.includes('/')) throw conveyorError('invalid-id', { text: name, expected: 'the name of a pipeline' });
  return name;
}

/** The id from the path. An encoded slash (`%2F`) must not turn it into another id. */
export function releaseParam(c: Context): Exclude<Id, { readonly kind: 'pipeline' }> & { readonly text: string } {
  const { pipeline, n, action } = c.req.param() as { pipeline: string; n: string; action?: string };
  const parts = [pipeline, n, ...(action === undefined ? [] : [action])];
  const text = parts.join('/');
  const id = parts.some((part) => part.includes('/')) ? undefined : parseId(text);
  if (id !== undefined && id.kind !== 'pipeline') return { ...id, text };
  throw conveyorError('invalid-id', { text, expected: 'the id of a release or deploy' });
}

/** The idempotency key from the header or the body. @throws ConveyorError if they differ */
export function requestKey(c: Context, inBody: string | undefined): string | null {
  const inHeader = c.req.header('idempotency-key');
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody)
    throw conveyorError('invalid-request', { detail: 'Idempotency-Key and idempotencyKey differ' });
  const key = inBody ?? (inHeader === undefined || inHeader === '' ? null : inHeader);
  rejectInvalidInput(unfitKey(key ?? ''));
  return key;
}
