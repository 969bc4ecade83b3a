import type { Artifact } from '../../domain/artifact';
import { auditChanges } from '../../domain/audit/record';
import { parseId, releaseId, type Id } from '../../domain/ids';
import { isByAdmin } from '../../domain/principals';
import { requireTarget } from '../../domain/target';
import type { Trigger } from '../../domain/views';
import type { LookNow } from '../api';
import type { Permit, PermissionGate } from '../permissionGate';
import { buildSubmissionEntry, buildStartEntry } from './entries';
import type { OperationRows } from './row';

type SubmissionArguments = readonly [pipeline: string, artifacts: readonly Artifact[], trigger: Trigger];

/** The permission and audit of versions submitted to a pipeline. */
const guardSubmission = (ask: (gate: PermissionGate, pipeline: string, trigger: Trigger) => Promise<Permit>) => ({
  permit: async (
    gate: PermissionGate,
    ...[pipeline, artifacts, trigger]: SubmissionArguments
  ): Promise<[...SubmissionArguments]> => {
    const by = await ask(gate, pipeline, trigger);
    await gate.requireSigned(pipeline, artifacts);
    return [pipeline, artifacts, under(trigger, by)];
  },
  audit: (...[pipeline, artifacts, { actor, reason }]: SubmissionArguments) => ({
    ...{ ...buildSubmissionEntry(actor, pipeline, artifacts), reason: reason ?? null },
  }),
});

/** Operations that start releases, commands, and looks at runs. */
export const RELEASE_OPERATIONS = {
  release: {
    route: 'POST /v1/pipelines/{name}/releases',
    request: (name, artifacts, { kind, key, reason }) => ({
      ...{ params: { name }, key },
      body: { artifacts, trigger: kind === 'manual' ? kind : 'api', reason },
    }),
    access: 'release',
    ...guardSubmission((gate, pipeline, trigger) => gate.toRelease(pipeline, trigger)),
  },
  submit: {
    route: 'POST /v1/pipelines/{name}/submissions',
    request: (name, artifacts, { key }) => ({ params: { name }, body: { artifacts }, key }),
    access: 'submit',
    ...guardSubmission((gate, pipeline, trigger) => gate.toSubmit(pipeline, trigger)),
  },
  push: {
    route: 'POST /v1/pipelines/{name}/pushes',
    request: (name, action, artifacts, { actor: _, key = null, ...how }) => ({
      ...{ params: { name }, body: { action, artifacts, ...how }, key },
    }),
    access: 'push',
    permit: async (gate, pipeline, action, artifacts, push) => {
      const { skipBake = false, actor } = push;
      const by = await gate.to('push', { kind: 'pipeline', pipeline }, actor, { skipBake });
      if (!isByAdmin(by)) await gate.requireSigned(pipeline, artifacts);
      return [pipeline, action, artifacts, under(push, by)];
    },
    audit: (pipeline, _action, artifacts, { actor, reason }) => ({
      ...{ ...buildSubmissionEntry(actor, pipeline, artifacts), reason },
    }),
  },
  rerun: {
    route: 'POST /v1/releases/{pipeline}/{n}/rerun',
    request: (pipeline, n, { kind = 'manual', reason, key = null }) => ({
      ...{ params: { pipeline, n }, body: { trigger: kind, reason }, key },
    }),
    access: 'rerun',
    permit: async (gate, pipeline, number, rerun) => {
      const by = await gate.to('rerun', { kind: 'release', pipeline, number }, rerun.actor);
      return [pipeline, number, under(rerun, by)];
    },
    audit: (pipeline, n, { actor, reason = null }) => ({
      ...{ actor, target: releaseId(pipeline, n), reason, came: buildStartEntry },
    }),
  },
  command: {
    route: {
      pipeline: 'POST /v1/pipelines/{name}/commands/{verb}',
      release: 'POST /v1/releases/{pipeline}/{n}/commands/{verb}',
      action: 'POST /v1/releases/{pipeline}/{n}/{action}/commands/{verb}',
    },
    request: (id, verb, { actor: _, ...body }) => ({ id: requireTarget(id, verb), params: { verb }, body }),
    access: (_id, verb) => verb,
    permit: async (gate, text, verb, input) => {
      const id = commandTarget(text, input.action);
      // The client refuses other texts with an error about ids.
      if (id === undefined) return [text, verb, input];
      const by = await gate.to(verb, id, input.actor ?? null, { approves: input.approve === true });
      return [text, verb, under(input, by)];
    },
    audit: (id, _verb, { actor = null, reason = null, ...input }) => {
      const { action, permitted: _permitted, vouched: _vouched, ...how } = input;
      const target = action === undefined ? id : `${id}/${action}`;
      return {
        ...{ actor, target, reason, ...auditChanges({}, how) },
        came: (receipt) => ({ target: action === undefined ? receipt.id : target, result: receipt.effect }),
      };
    },
  },
  lookNow: {
    route: 'POST /v1/runs/{run}/look',
    request: (run) => ({ params: { run } }),
    answer: (body) => (body as { readonly look: LookNow }).look,
    access: 'look-now',
  },
} as const satisfies Partial<OperationRows>;

/** `pick kvstore/12` with an action is about that action. */
function commandTarget(text: string, action: string | undefined): Id | undefined {
  const id = parseId(text);
  return id?.kind === 'release' && action !== undefined ? { ...id, kind: 'action', action } : id;
}

/** Rules claimed by a caller are ignored. */
function under<T extends Permit>(given: T, permit: Permit): Omit<T, keyof Permit> & Permit {
  const { permitted: _permitted, vouched: _vouched, ...rest } = given;
  return { ...rest, ...permit };
}
