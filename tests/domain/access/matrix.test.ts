import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConveyorClient } from '../../../client/api';
import { decideAudit, requireProposer } from '../../../client/about';
import { DECIDED_AS, guardClient } from '../../../client/guard';
import { decideBirth } from '../../../domain/access/children';
import { DOORS, NEEDS, OPERATIONS, type Door, type OperationName } from '../../../domain/access/operations';
import type { PlatformFacts } from '../../../domain/access/platform';
import { approvalStatus } from '../../../domain/access/approvals';
import { decideDeploy, decideRollback, decideScripts, decideUse } from '../../../domain/access/usage';
import { ConveyorError, conveyorError } from '../../../domain/errors';
import { DEPLOY_VERBS, PIPELINE_VERBS, RELEASE_VERBS, type Verb } from '../../../domain/verbs';
import { parseRegistry } from '../../../platform/registry';
import { deploy, release } from '../../builders/cliSamples';
import { artifact, signer } from '../../builders/signing';
import { specOf } from '../../builders/pipelineWorld';
import { whetherSigned } from '../../../activities/behalf';
import type { Trigger } from '../../../domain/views';

const FACTS = parseRegistry(
  {
    groups: { storage: ['user:member'] },
    platform: {
      admins: ['user:admin'],
      pipelines: [{ names: ['*'], creators: ['user:owner', 'user:member', 'user:creator'] }],
      services: [
        { pushType: 'twine', units: ['kvstore-*'], owners: ['user:service-owner', 'group:storage', 'user:owner'] },
      ],
      uses: [{ kind: 'mutex', names: ['region-*'], by: ['group:storage', 'user:owner'] }],
      scripts: { by: ['group:storage', 'user:owner'] },
      bugs: { by: ['group:storage', 'user:owner'] },
    },
  },
  {},
);
const OWNERS = ['user:owner', 'group:storage'];
const SPEC = specOf(['deploy'], { owners: OWNERS });

/** Who asks; a program is known by its delivery or by the key of a run. */
const ROLES: Readonly<Record<string, string | null>> = {
  admin: 'user:admin',
  owner: 'user:owner',
  'member of an owner': 'user:member',
  creator: 'user:creator',
  'service owner': 'user:service-owner',
  stranger: 'user:stranger',
  'the group itself': 'group:storage',
  program: 'service:program',
  anonymous: null,
};

/** A client of which nothing is there but the pipeline, its releases and its deploys. */
function clientOf(exists: boolean): ConveyorClient {
  const done = () => Promise.resolve({} as never);
  const spec = (pipeline: string) =>
    exists ? Promise.resolve(SPEC) : Promise.reject(conveyorError('unknown-pipeline', { pipeline }));
  return {
    ...Object.fromEntries(Object.keys(DECIDED_AS).map((name) => [name, done])),
    spec,
    exportPipeline: (pipeline: string) => spec(pipeline).then((known) => ({ spec: known })),
    status: (id: string) => Promise.resolve(id.split('/').length === 3 ? deploy() : release()),
  } as unknown as ConveyorClient;
}

const PIPELINE_ONLY = new Set<string>(PIPELINE_VERBS);
const VERBS = new Set<string>([...DEPLOY_VERBS, ...RELEASE_VERBS, ...PIPELINE_VERBS]);

/** Asks as whoever comes in by a door would: the guard, with every operation of a client. */
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

/** The audit is the server's own, which asks so. */
async function mayAudit(actor: string | null, door: Door): Promise<void> {
  const who = { principal: actor, door };
  const decision = await decideAudit(clientOf(true), FACTS, { who, pipeline: 'kvstore' });
  if (!decision.allowed) throw conveyorError('not-permitted', { actor: '', pipeline: 'kvstore', why: decision.why });
}

/** Repositories are no workflows: whoever proposes is asked so by the server and by the command line. */
const mayPropose = async (principal: string | null, door: Door): Promise<string> =>
  requireProposer(FACTS, { principal, door }, { name: 'flags', owners: OWNERS });

async function mayDo(verb: OperationName, actor: string | null, door: Door): Promise<boolean> {
  // The server takes nothing from nobody, and a delivery only from a program.
  const isKnown = actor !== null || OPERATIONS[verb].needs === 'nobody' || OPERATIONS[verb].needs === 'key';
  if (!isKnown) return false;
  return asked(verb, actor, door).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ConveyorError && error.code === 'not-permitted') return false;
      throw error;
    },
  );
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const mark = (allowed: boolean): string => (allowed ? '✓' : '✗');
const NAMES = Object.keys(OPERATIONS) as OperationName[];

async function tableOf(door: Door): Promise<string> {
  const names = NAMES.filter((name) => OPERATIONS[name].doors.includes(door));
  const rows = names.map(async (name) => {
    const { does, protection } = OPERATIONS[name];
    const cells = Object.entries(ROLES).map(async ([, actor]) => mark(await mayDo(name, actor, door)));
    return row([`\`${name}\``, does, ...(await Promise.all(cells)), protection ?? '']);
  });
  const head = ['Operation', 'Does', ...Object.keys(ROLES), 'Protection'];
  return [row(head), `|${'-|'.repeat(head.length)}`, ...(await Promise.all(rows))].join('\n');
}

/** What workers ask for a pipeline, by whose it is. */
function usesTable(): string {
  const held = { pushType: 'twine', units: ['kvstore-x'] };
  const birth = { child: 'kvstore', owners: OWNERS, names: 'train', parent: 'train' };
  const OF: Readonly<Record<string, readonly string[] | undefined>> = {
    'all in the rule': OWNERS,
    'admins alone': ['user:admin'],
    'one of two in the rule': ['user:stranger', 'group:storage'],
    'none in the rule': ['user:stranger'],
    unknown: undefined,
  };
  const may: Partial<Record<OperationName, (owners: readonly string[] | undefined) => boolean>> = {
    deploy: (owners) => decideDeploy(FACTS, owners, held).allowed,
    use: (owners) => decideUse(FACTS, owners, { kind: 'mutex', name: 'region-x' }).allowed,
    'run-scripts': (owners) => decideScripts(FACTS, owners).allowed,
    // Here it is whoever started the parent.
    'start-child': (owners) => decideBirth(FACTS, { ...birth, startedBy: owners?.[0] }).allowed,
  };
  const names = NAMES.filter((name) => OPERATIONS[name].doors.length === 0);
  const rows = names.map((name) => {
    const ask = may[name];
    if (ask === undefined) throw new Error(`${name} has no row`);
    return row([`\`${name}\``, OPERATIONS[name].does, ...Object.values(OF).map((owners) => mark(ask(owners)))]);
  });
  const head = ['Operation', 'Does', ...Object.keys(OF)];
  return [row(head), `|${'-|'.repeat(head.length)}`, ...rows].join('\n');
}

/** Each way to a unit that a rule protects, for a pipeline that may not have it. */
const ON_ITS_WAY: Readonly<Record<string, Pick<Trigger, 'kind' | 'imported'> & { readonly held?: readonly string[] }>> =
  {
    'a release, rerun or canary, by a person': { kind: 'manual' },
    'by a program through the API': { kind: 'api' },
    'by a webhook': { kind: 'webhook' },
    'by a finder': { kind: 'finder' },
    'by a parent': { kind: 'parent' },
    'an emergency': { kind: 'emergency' },
    'a follow-on': { kind: 'follow-on' },
    'a rollback, where it held the unit in what it restores': { kind: 'rollback', held: ['kvstore-x'] },
    'a rollback, where it did not, or where that is not known': { kind: 'rollback', held: [] },
    'a rollback to what an import alone calls good': { kind: 'rollback', imported: true, held: [] },
  };

const CI = signer();

/** With a rule about the unit, which pipelines of `user:owner` alone may have. */
const protectedBy = (rule: object) =>
  parseRegistry(
    {
      platform: {
        ...{ admins: ['user:admin'], keys: { ci: CI.pem } },
        services: [{ pushType: 'twine', units: ['kvstore-*'], owners: ['user:owner'] }],
        protection: [{ services: [{ pushType: 'twine', units: ['kvstore-*'] }], ...rule }],
      },
    },
    {},
  );

/** Whether it reaches the unit without the right, without a signature and without an approval. */
function reaches({ kind, imported, held }: (typeof ON_ITS_WAY)[string]): readonly boolean[] {
  const pipeline = 'side';
  const holds = { pushType: 'twine', units: ['kvstore-x'] };
  const isSeen = held !== undefined && !imported;
  const may = (facts: PlatformFacts, owner: string): boolean =>
    (isSeen ? decideRollback(facts, [owner], { pipeline, ...holds }, held) : decideDeploy(facts, [owner], holds))
      .allowed;
  const signed = protectedBy({ signed: { by: ['ci'] } });
  const had = isSeen ? { had: held } : {};
  const approved = protectedBy({ approvals: { count: 1, by: ['user:admin'] } });
  const ask = { pipeline, holds, kind, askedBy: ['user:owner'], approvals: [], ...(imported ? { imported } : {}) };
  return [
    may(protectedBy({ emergency: false }), 'user:stranger'),
    may(signed, 'user:owner') &&
      !('refused' in whetherSigned(() => signed, { pipeline }, [artifact('kv:2')], { holds, ...had })),
    may(approved, 'user:owner') && approvalStatus(approved, ask).met,
  ];
}

function workersTable(): string {
  const rows = Object.entries(ON_ITS_WAY).map(([what, one]) => row([what, ...reaches(one).map(mark)]));
  const head = ['On its way', 'without the right to the unit', 'without a signature', 'without an approval'];
  return [row(head), `|${'-|'.repeat(head.length)}`, ...rows].join('\n');
}

const TITLES: Readonly<Record<Door, string>> = {
  'command-line': 'The command line',
  api: 'The API',
  webhook: 'Webhooks',
  run: 'The end of a run',
};

const INTRO = `# The matrix of access

Who may do what by which door, with a \`platform\` section ([who may do what](access.md)). It is made of the code: a test asks the guard about every
operation, and \`UPDATE_DOCS=1 npx jest tests/domain/access/matrix\` writes this page. The pipeline is owned by *owner* and by a group of which *member of an
owner* is a member; *service owner* owns a unit that the deploy holds. What a rule of \`platform.protection\` may demand besides is in the last column.

A webhook is known by its signature and the end of a run by its key, whoever sends them: there each program is as good as its secret.`;

const FILE = join(__dirname, '../../../docs/reference/access-matrix.md');

test('docs/reference/access-matrix.md says of each role, operation and door what the guard says (UPDATE_DOCS=1 writes it anew)', async () => {
  const tables = await Promise.all(DOORS.map(async (door) => `## ${TITLES[door]}\n\n${await tableOf(door)}`));
  const needs = Object.entries(OPERATIONS).map(([name, { needs: need }]) => row([`\`${name}\``, NEEDS[need]]));
  const page = [
    INTRO,
    ...tables,
    `## What pipelines may use\n\nBy the owners of the pipeline; of \`start-child\`, by who started the parent.\n\n${usesTable()}`,
    `## What reaches a unit\n\nWorkers ask this before each effect, whichever door it came through: of a unit that its pipeline may not have, and that a rule of \`platform.protection\` protects by\n\`services\`. A revert of a deploy under way goes back unasked to what its units ran.\n\n${workersTable()}`,
    `## Which role each takes\n\nAdmins may do everything that a principal may do.\n\n${[row(['Operation', 'Is for']), '|-|-|', ...needs].join('\n')}`,
  ].join('\n\n');
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, `${page}\n`);
  expect(readFileSync(FILE, 'utf8')).toBe(`${page}\n`);
});

test('every operation of a client and every verb has a row, and every row is something that can be asked', () => {
  const asked = Object.values(DECIDED_AS).filter((name) => name !== 'the verb' && name !== 'nothing');
  const reachable = new Set<string>([...asked, ...VERBS, 'create', 'propose', 'read-audit']);
  const rows = NAMES.filter((name) => OPERATIONS[name].doors.length > 0);
  expect([...reachable].sort()).toEqual([...rows].sort());
});

test.each(
  NAMES.filter(
    (name) => OPERATIONS[name].doors.length > 0 && !['nobody', 'key', 'delivery'].includes(OPERATIONS[name].needs),
  ),
)('%s is for no stranger, no group, no program and nobody unknown, by any door', async (name) => {
  for (const door of OPERATIONS[name].doors)
    for (const role of ['stranger', 'the group itself', 'program', 'anonymous'])
      expect([door, role, await mayDo(name, ROLES[role] ?? null, door)]).toEqual([door, role, false]);
});
