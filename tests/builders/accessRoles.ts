import type { ConveyorClient } from '../../client/api';
import { decideAudit, requireProposer } from '../../client/about';
import { guardClient } from '../../client/guard';
import { CLIENT_OPERATIONS } from '../../client/operations';
import { decideBirth } from '../../domain/access/children';
import type { Door, OperationName } from '../../domain/access/operations';
import { decideDeploy, decideScripts, decideUse } from '../../domain/access/usage';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { DEPLOY_VERBS, PIPELINE_VERBS, RELEASE_VERBS, type Verb } from '../../domain/verbs';
import { parseRegistry } from '../../settings/registry';
import { deploy, release } from './cliSamples';
import { specOf } from './pipelineWorld';
import { ACCESS, appOf, FakePipelines, githubDelivery, pushOf, sourceOf } from './serverWorld';

const OWNERS = ['user:owner', 'user:keeper', 'group:storage'];
const FACTS = parseRegistry(
  {
    groups: { storage: ['user:member'] },
    platform: {
      admins: ['user:admin'],
      pipelines: [{ names: ['*'], creators: ['user:owner', 'user:member', 'user:creator'] }],
      services: [{ pushType: 'twine', units: ['kvstore-*'], owners: ['user:service-owner', ...OWNERS] }],
      uses: [{ kind: 'mutex', names: ['region-*'], by: OWNERS }],
      scripts: { by: OWNERS },
      bugs: { by: ['group:storage', 'user:owner'] },
    },
  },
  {},
);
const SPEC = specOf(['deploy'], { owners: OWNERS });

/** The callers; a program is identified by its delivery or by the key of a run. */
export const ROLES = {
  admin: 'user:admin',
  owner: 'user:owner',
  'owner who is no creator': 'user:keeper',
  'member of an owner': 'user:member',
  creator: 'user:creator',
  'service owner': 'user:service-owner',
  stranger: 'user:stranger',
  'the group itself': 'group:storage',
  program: 'service:program',
  anonymous: null,
} as const satisfies Readonly<Record<string, string | null>>;
export type Role = keyof typeof ROLES;

/** A client that knows only the pipeline, its releases and its deploys. */
function clientOf(exists: boolean): ConveyorClient {
  const done = () => Promise.resolve({} as never);
  const spec = (pipeline: string) =>
    exists ? Promise.resolve(SPEC) : Promise.reject(conveyorError('unknown-pipeline', { pipeline }));
  return {
    ...Object.fromEntries(Object.keys(CLIENT_OPERATIONS).map((name) => [name, done])),
    spec,
    exportPipeline: (pipeline: string) => spec(pipeline).then((known) => ({ spec: known })),
    status: (id: string) => Promise.resolve(id.split('/').length === 3 ? deploy() : release()),
  } as unknown as ConveyorClient;
}

const PIPELINE_ONLY = new Set<string>(PIPELINE_VERBS);
export const VERBS = new Set<string>([...DEPLOY_VERBS, ...RELEASE_VERBS, ...PIPELINE_VERBS]);

/** Asks as the principal of a door would: through the guard, with every operation of a client. */
function asked(verb: OperationName, actor: string | null, door: Door): Promise<unknown> {
  const client = guardClient(clientOf(verb !== 'create'), () => FACTS, door);
  const trigger = { kind: 'manual', actor: actor as string, key: null } as const;
  const given = { actor: actor as string, reason: 'r' };
  if (VERBS.has(verb)) {
    const id = PIPELINE_ONLY.has(verb) ? 'kvstore' : 'kvstore/13/deploy';
    return client.command(id, verb as Verb, { reason: 'r', approve: true, ...(actor === null ? {} : { actor }) });
  }
  switch (verb) {
    case 'read-audit':
      return mayAudit(actor, door);
    case 'propose':
      return mayPropose(actor, door);
    case 'create':
    case 'apply':
      return client.apply(SPEC, actor as string);
    case 'import':
      return client.importPipeline({ spec: SPEC } as never, actor as string);
    case 'release':
      return client.release('kvstore', [], trigger);
    case 'submit':
      return client.submit('kvstore', [], { ...trigger, kind: 'webhook' });
    case 'rerun':
      return client.rerun('kvstore', 13, given);
    case 'push':
      return client.push('kvstore', 'deploy', [], given);
    case 'report-bug':
      return client.reportBug({ target: '//lib:rpc', from: '12', to: null, reason: 'r' }, actor as string);
    case 'close-bug':
      return client.closeBug({ id: 'bug/7', to: null, reason: 'r' }, actor as string);
    case 'look-now':
      return client.lookNow('kvstore/13/build/1');
    default:
      return client.history('kvstore');
  }
}

/** The server itself guards the audit, with this question. */
async function mayAudit(actor: string | null, door: Door): Promise<void> {
  const who = { principal: actor, door };
  const decision = await decideAudit(clientOf(true), FACTS, { who, pipeline: 'kvstore' });
  if (!decision.allowed) throw conveyorError('not-permitted', { actor: '', pipeline: 'kvstore', why: decision.why });
}

/** Repositories are not workflows: the server and the command line check a proposer in this way. */
const mayPropose = async (principal: string | null, door: Door): Promise<string> =>
  requireProposer(FACTS, { principal, door }, { name: 'flags', owners: OWNERS });

/** Whether the server submits a delivery: signed with the secret of a source of that name, or unsigned. */
async function mayDeliver(actor: string | null): Promise<boolean> {
  const github = [sourceOf({ name: 'github', actor: actor ?? 'service:github' })];
  const pipelines = new FakePipelines();
  const client = guardClient({ ...clientOf(true), ...pipelines.client }, () => FACTS, 'webhook');
  const access = { ...ACCESS, webhooks: { ...ACCESS.webhooks, github } };
  const app = appOf(pipelines, { deliveries: client, access, policy: FACTS.policy, groups: FACTS.groups });
  const unsigned = { headers: { 'x-hub-signature-256': undefined } };
  const { status } = await app.request(
    '/v1/webhooks/github',
    githubDelivery(pushOf(1), actor === null ? unsigned : {}),
  );
  if (![202, 401, 403].includes(status)) throw new Error(`a delivery was answered with ${status}`);
  return pipelines.submissions.length > 0;
}

/** Whether a principal of a role may do something through a door, as the guard or the server decides. */
export async function mayDo(verb: OperationName, role: Role, door: Door): Promise<boolean> {
  const actor = ROLES[role];
  if (verb === 'submit' && door === 'webhook') return mayDeliver(actor);
  return asked(verb, actor, door).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ConveyorError && error.code === 'not-permitted') return false;
      throw error;
    },
  );
}

/** Owners of a pipeline; for a child, the first is the actor that started its parent. */
export const OWNED_BY = {
  'all in the rule': OWNERS,
  'admins alone': ['user:admin'],
  'one of two in the rule': ['user:stranger', 'group:storage'],
  'none in the rule': ['user:stranger'],
  unknown: undefined,
} as const satisfies Readonly<Record<string, readonly string[] | undefined>>;
export type OwnedBy = keyof typeof OWNED_BY;

/** Whether workers let a pipeline of these owners use something. */
export function mayUse(name: OperationName, by: OwnedBy): boolean {
  const owners: readonly string[] | undefined = OWNED_BY[by];
  const birth = { child: 'kvstore', owners: OWNERS, names: 'train', parent: 'train' };
  switch (name) {
    case 'deploy':
      return decideDeploy(FACTS, owners, { pushType: 'twine', units: ['kvstore-x'] }).allowed;
    case 'use':
      return decideUse(FACTS, owners, { kind: 'mutex', name: 'region-x' }).allowed;
    case 'run-scripts':
      return decideScripts(FACTS, owners).allowed;
    case 'start-child':
      return decideBirth(FACTS, { ...birth, startedBy: owners?.[0] }).allowed;
    default:
      throw new Error(`${name} is nothing that workers ask for a pipeline`);
  }
}
