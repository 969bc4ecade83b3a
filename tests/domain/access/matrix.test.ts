import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_OPERATIONS } from '../../../client/operations';
import { DOORS, NEEDS, OPERATIONS, type Door, type OperationName } from '../../../domain/access/operations';
import { mayDo, mayUse, OWNED_BY, ROLES, VERBS, type OwnedBy, type Role } from '../../builders/accessRoles';
import { LACKS, reaches, WAYS, type WayName } from '../../builders/accessWays';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const mark = (allowed: boolean): string => (allowed ? '✓' : '✗');
const ROLE_NAMES = Object.keys(ROLES) as Role[];
const NAMES = Object.keys(OPERATIONS) as OperationName[];

async function tableOf(door: Door): Promise<string> {
  const names = NAMES.filter((name) => OPERATIONS[name].doors.includes(door));
  const rows = names.map(async (name) => {
    const { does, protection } = OPERATIONS[name];
    const cells = ROLE_NAMES.map(async (role) => mark(await mayDo(name, role, door)));
    return row([`\`${name}\``, does, ...(await Promise.all(cells)), protection ?? '']);
  });
  const head = ['Operation', 'Does', ...ROLE_NAMES, 'Protection'];
  return [row(head), `|${'-|'.repeat(head.length)}`, ...(await Promise.all(rows))].join('\n');
}

/** The questions of workers for a pipeline, by its owner. */
function usesTable(): string {
  const owned = Object.keys(OWNED_BY) as OwnedBy[];
  const names = NAMES.filter((name) => OPERATIONS[name].doors.length === 0);
  const rows = names.map((name) =>
    row([`\`${name}\``, OPERATIONS[name].does, ...owned.map((by) => mark(mayUse(name, by)))]),
  );
  const head = ['Operation', 'Does', ...owned];
  return [row(head), `|${'-|'.repeat(head.length)}`, ...rows].join('\n');
}

async function workersTable(): Promise<string> {
  const names = Object.keys(WAYS) as WayName[];
  const rows = names.map(async (name) => {
    const cells = LACKS.map(async (lack) => mark(await reaches(name, lack)));
    return row([name, ...(await Promise.all(cells))]);
  });
  const head = ['On its way', ...LACKS];
  return [row(head), `|${'-|'.repeat(head.length)}`, ...(await Promise.all(rows))].join('\n');
}

const TITLES: Readonly<Record<Door, string>> = {
  'command-line': 'The command line',
  api: 'The API',
  webhook: 'Webhooks',
  run: 'The end of a run',
};

const INTRO = `# The matrix of access

Who may do what by which door, with a \`platform\` section ([who may do what](access.md)). The page is made of the code by \`UPDATE_DOCS=1 npx jest tests/domain/access/matrix\`.
Each cell also stands in a table written by hand, \`tests/domain/access/cells.test.ts\`, so that no right changes unnoticed. The pipeline is owned by *owner*, by an *owner who is no creator*, and by a group of which *member of an
owner* is a member; *service owner* owns a unit that the deploy holds. The last column has the further demands that a rule of \`platform.protection\` may make.

A webhook is known by its signature and the end of a run by its key, not by its sender: there each program is as good as its secret.`;

const FILE = join(__dirname, '../../../docs/reference/access-matrix.md');

test('docs/reference/access-matrix.md says of each role, operation and door what the guard says (UPDATE_DOCS=1 writes it anew)', async () => {
  const tables = await Promise.all(DOORS.map(async (door) => `## ${TITLES[door]}\n\n${await tableOf(door)}`));
  const needs = Object.entries(OPERATIONS).map(([name, { needs: need }]) => row([`\`${name}\``, NEEDS[need]]));
  const page = [
    INTRO,
    ...tables,
    `## What pipelines may use\n\nBy the owners of the pipeline; of \`start-child\`, by who started the parent.\n\n${usesTable()}`,
    `## What reaches a unit\n\nWorkers ask this before each effect, whichever door it came through: of a unit that its pipeline may not have, or that a rule of \`platform.protection\` protects by\n\`services\`. *Without a check* stands for soaks and windows too, except that an undeploy needs the window.\nA revert of a deploy under way asks nothing and has no row: it names the updates that it undoes, so it reaches only units that its deploy reached, and brings each back to what it ran\nbefore. The \`undo\` of a step calls an action service and updates no unit.\n\n${await workersTable()}`,
    `## Which role each takes\n\nAdmins may do everything that a principal may do.\n\n${[row(['Operation', 'Is for']), '|-|-|', ...needs].join('\n')}`,
  ].join('\n\n');
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, `${page}\n`);
  expect(readFileSync(FILE, 'utf8')).toBe(`${page}\n`);
});

test('every operation of a client and every verb has a row, and every row is something that can be asked', () => {
  const asked = Object.values(CLIENT_OPERATIONS).flatMap(({ access }) => (typeof access === 'string' ? [access] : []));
  const reachable = new Set<string>([...asked, ...VERBS, 'create', 'propose', 'read-audit']);
  const rows = NAMES.filter((name) => OPERATIONS[name].doors.length > 0);
  expect([...reachable].sort()).toEqual([...rows].sort());
});
