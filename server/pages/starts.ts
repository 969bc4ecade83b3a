import { randomUUID } from 'node:crypto';
import { conveyorError } from '../../domain/errors';
import { unfitCommand, unfitKey } from '../../domain/excess';
import { requireTarget } from '../../domain/target';
import type { StartVerb } from '../../domain/verbs';
import { toVersionField } from '../../pages/frame';
import type { CommandModel, StartFields } from '../../pages/models';
import type { CommandScene } from '../../render/consequences';
import type { Caller } from '../auth';
import { parseJsonBody, rejectInvalidInput } from '../body';
import { parseArtifacts } from '../requests';
import { releaseRequest } from '../schemas';
import type { KeyedQueue } from '../turns';

/** Releases that the forms of pages start, by the same operations of the client as `/v1`. */

interface StartTarget {
  readonly verb: StartVerb;
  readonly target: string;
}

type Started = Awaited<ReturnType<Caller['client']['release']>>;

/**
 * Starts a release, or runs one again. @throws ConveyorError `missing-reason`, `invalid-request`, `over-limit`,
 * `invalid-text`, and the refusal of the pipeline
 * @returns the id of the new release, and what happened
 */
export async function startFromForm(
  turns: KeyedQueue,
  { client, principal: actor }: Caller,
  { verb, target }: StartTarget,
  form: URLSearchParams,
): Promise<{ readonly id: string; readonly effect: string }> {
  const reason = (form.get('reason') ?? '').trim();
  if (reason === '') throw conveyorError('missing-reason', { verb });
  const key = form.get('key') || randomUUID();
  rejectInvalidInput(unfitCommand({ actor, reason }) ?? unfitKey(key));
  const [id, trigger] = [requireTarget(target, verb), { kind: 'manual', actor, key, reason } as const];
  const artifacts = id.kind === 'pipeline' ? readVersions(form) : [];
  const started: Started = await turns.run(id.pipeline, async () =>
    id.kind === 'pipeline'
      ? client.release(id.pipeline, artifacts, trigger)
      : client.rerun(id.pipeline, id.number, trigger),
  );
  const what = started.duplicate ? 'it was started before by the same request' : 'it is started';
  return { id: started.id, effect: [what, ...(started.passedOver ?? [])].join('; ') };
}

/** The versions that a person has typed, checked as those of a request to `/v1`. */
function readVersions(form: URLSearchParams) {
  const prefix = toVersionField('');
  const artifacts = [...form].flatMap(([field, version]) =>
    field.startsWith(prefix) && version.trim() !== ''
      ? [{ name: field.slice(prefix.length), version: version.trim() }]
      : [],
  );
  return parseArtifacts(parseJsonBody(JSON.stringify({ artifacts }), releaseRequest).artifacts);
}

/** A form that is shown again after a refusal keeps its key. */
export function buildStartFields(
  verb: StartVerb,
  { pipeline, takes = [] }: CommandScene,
  given: CommandModel['given'],
): StartFields {
  const latest = new Map((pipeline?.inputs ?? []).map(({ name, version }) => [name, version]));
  return {
    key: given['key'] || randomUUID(),
    inputs: verb === 'release' ? takes.map((name) => ({ name, latest: latest.get(name) ?? null })) : [],
  };
}
