import { DOORS, OPERATIONS, type Door, type OperationName } from '../../../domain/access/operations';
import { mayDo, mayUse, OWNED_BY, ROLES, type OwnedBy, type Role } from '../../builders/accessRoles';
import { LACKS, reaches, WAYS, type WayName } from '../../builders/accessWays';

/**
 * Who may do what, written by hand: a cell here changes only with a deliberate change of a permission. docs/reference/access-matrix.md is
 * made of the code, and would follow a mistake.
 */

/**
 * In the order of ROLES: admin, owner, owner who is no creator, member of an owner, creator, service owner, stranger, the group itself,
 * program, anonymous.
 */
const BY_ROLE: Readonly<Record<string, string>> = {
  'read by command-line, api': '✓✓✓✓✓✓✓✓✓✓',
  'read-audit by api': '✓✓✓✓✗✗✗✗✗✗',
  'create by command-line, api': '✓✓✗✓✗✗✗✗✗✗',
  'apply by command-line, api': '✓✓✗✓✗✗✗✗✗✗',
  'import by command-line, api': '✓✓✗✓✗✗✗✗✗✗',
  'retire by command-line, api': '✓✓✗✓✗✗✗✗✗✗',
  'release by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'rerun by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'push by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'submit by api': '✓✓✓✓✗✗✗✗✗✗',
  'submit by webhook': '✓✓✓✓✓✓✓✗✓✗',
  'look-now by run': '✓✓✓✓✓✓✓✓✓✓',
  'propose by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'report-bug by command-line, api': '✓✓✗✓✗✗✗✗✗✗',
  'close-bug by command-line, api': '✓✓✗✓✗✗✗✗✗✗',
  'hold by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'unhold by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'freeze by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'unfreeze by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'allow-artifact by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'undeploy by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'end-use by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'pause by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'resume by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'cancel by command-line, api': '✓✓✓✓✗✓✗✗✗✗',
  'revert by command-line, api': '✓✓✓✓✗✓✗✗✗✗',
  'skip-phase by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'skip-bake by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'skip-health-check by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'skip-window by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'pick by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'retry by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
  'override-offer by command-line, api': '✓✓✓✓✗✗✗✗✗✗',
};

/** In the order of OWNED_BY: all in the rule, admins alone, one of two in the rule, none in the rule, unknown. */
const BY_OWNERS: Readonly<Record<string, string>> = {
  deploy: '✓✓✗✗✗',
  use: '✓✓✗✗✗',
  'run-scripts': '✓✓✗✗✗',
  'start-child': '✓✓✗✗✗',
};

/** In the order of LACKS: without the right to the unit, a signature, an approval, a check. */
const BY_WAY: Readonly<Record<WayName, string>> = {
  'a release or rerun by a person': '✗✗✗✗',
  'a canary': '✗✗✗✗',
  'a unit that joins a deploy under way': '✗✗✗✗',
  'a release by a program through the API': '✗✗✗✗',
  'a release by a webhook': '✗✗✗✗',
  'a release by a finder': '✗✗✗✗',
  'a release by a parent': '✗✗✗✗',
  'an emergency of an owner': '✗✗✗✗',
  'an emergency of an admin': '✗✓✗✓',
  'a follow-on': '✗✗✓✓',
  'an undeploy, which removes it': '✗✓✗✓',
  'a rollback to a unit that had the version': '✓✓✓✓',
  'a rollback to a unit that never had it': '✗✗✗✗',
  'a rollback to a version of no known unit': '✗✗✗✗',
  'a rollback to a version that only an import calls good': '✗✗✗✗',
};

const mark = (allowed: boolean): string => (allowed ? '✓' : '✗');
const roles = Object.keys(ROLES) as Role[];
const owned = Object.keys(OWNED_BY) as OwnedBy[];
const operations = Object.entries(OPERATIONS) as [OperationName, (typeof OPERATIONS)[OperationName]][];

type Cell = readonly [OperationName, Role, Door, expected: string];
function cellOf(name: string, role: Role | undefined, door: string, expected: string): Cell {
  return [name as OperationName, role as Role, door as Door, expected];
}
const CELLS: readonly Cell[] = Object.entries(BY_ROLE).flatMap(([line, marks]) => {
  const [name = '', doors = ''] = line.split(' by ');
  return doors.split(', ').flatMap((door) => [...marks].map((one, at) => cellOf(name, roles[at], door, one)));
});

test.each(CELLS)('%s as %s by the door %s: %s', async (name, role, door, expected) => {
  expect(mark(await mayDo(name, role, door))).toBe(expected);
});

test('the table has every operation, role and door', () => {
  const listed = CELLS.map(([name, role, door]) => `${name} as ${role} by ${door}`);
  const all = operations.flatMap(([name, { doors }]) =>
    doors.flatMap((door) => roles.map((role) => `${name} as ${role} by ${door}`)),
  );
  expect(listed.sort()).toEqual(all.sort());
});

test.each(operations.filter(([, { doors, needs }]) => doors.length > 0 && needs !== 'nobody' && needs !== 'key'))(
  '%s is refused through every other door, even for an admin',
  async (name, { doors }) => {
    for (const door of DOORS.filter((other) => !doors.includes(other)))
      expect([door, await mayDo(name, 'admin', door)]).toEqual([door, false]);
  },
);

test.each(
  Object.entries(BY_OWNERS).flatMap(([name, marks]) =>
    [...marks].map((expected, at) => [name as OperationName, owned[at] as OwnedBy, expected] as const),
  ),
)('%s for a pipeline whose owners are, of the rule: %s: %s', (name, by, expected) => {
  expect(mark(mayUse(name, by))).toBe(expected);
});

test('the table has everything that workers ask for a pipeline, and every way to a unit', () => {
  const asked = operations.flatMap(([name, { doors }]) => (doors.length === 0 ? [name] : []));
  expect(Object.keys(BY_OWNERS)).toEqual(asked);
  expect(Object.keys(BY_WAY)).toEqual(Object.keys(WAYS));
});

test.each(
  (Object.entries(BY_WAY) as [WayName, string][]).flatMap(([way, marks]) =>
    LACKS.map((lack, at) => [way, lack, [...marks][at]] as const),
  ),
)('%s %s reaches a unit: %s', async (way, lack, expected) => {
  expect(mark(await reaches(way, lack))).toBe(expected);
});
