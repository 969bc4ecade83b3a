import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FlagdProvider } from '@openfeature/flagd-provider';
import { OpenFeature, type Client } from '@openfeature/server-sdk';
import fc from 'fast-check';
import { compileProject, evaluateProject } from '../../configerator/domain/gatekeeper/evaluate';
import type { GateUser, Project } from '../../configerator/domain/gatekeeper/project';
import { toContext, toFlagd } from '../../sdk';
import { ANY_USER, NOW, PROJECT_WITHOUT_LASER } from '../configerator/domain/gatekeeper/any';

/** The provider of flagd for OpenFeature, which evaluates in this process what `toFlagd` writes: it has to answer as we do. */

const USERS = 10_000;
const PROJECTS = 60;
const folder = mkdtempSync(join(tmpdir(), 'conveyor-flagd-'));

beforeAll(() => {
  jest.spyOn(Date, 'now').mockReturnValue(NOW);
});
afterAll(async () => {
  await OpenFeature.close();
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const FIRST_PHASES: Project = {
  rules: [
    { name: 'developers', if: [{ restraint: 'id', in: ['user-1', 'user-7'] }], pass: 1 },
    { name: 'employees', if: [{ restraint: 'employee' }], pass: 0.1 },
    {
      name: 'austria',
      if: [
        { restraint: 'country', in: ['AT'] },
        { restraint: 'app-version', min: '1.2' },
      ],
      pass: 0.05,
    },
    { name: 'all', if: [{ restraint: 'slice', from: 0.2, to: 0.7 }], pass: 0.333333 },
  ],
};

test('the OpenFeature provider answers as ours for 10,000 users, for every project that both can say', async () => {
  const drawn = fc.sample(PROJECT_WITHOUT_LASER, { numRuns: PROJECTS - 1, seed: 20261124 });
  const projects = Object.fromEntries([FIRST_PHASES, ...drawn].map((project, n) => [`project-${n}`, project]));
  const client = await providerOf(projects);
  const users = fc
    .sample(ANY_USER, { numRuns: USERS, seed: 15 })
    .map((user, n) => ({ ...user, id: `${user.id}-${n}` }));
  const found: unknown[] = [];
  let passed = 0;
  for (const [at, user] of users.entries()) {
    // Every user is asked about the first, and about some of the others in turn.
    const names = [0, 1, 2, 3, 4].map((n) => `project-${n === 0 ? 0 : 1 + ((at * 4 + n) % (PROJECTS - 1))}`);
    for (const name of names) {
      const theirs = await client.getBooleanDetails(name, false, toContext(user));
      const ours = passes(name, projects[name]!, user);
      if (theirs.errorCode !== undefined || theirs.value !== ours) found.push({ name, user, ours, theirs });
      passed += ours ? 1 : 0;
    }
  }
  expect(found.slice(0, 3)).toEqual([]);
  expect(passed).toBeGreaterThan(USERS);
});

test('a project that asks a key-value store is refused, since flagd has none', () => {
  const project = { rules: [{ if: [{ restraint: 'laser', above: 1 }], pass: 1 }] };
  expect(() => toFlagd('checkout', project)).toThrow('rules[0].if[0]: flagd has no key-value store');
});

test('a value that is not a project is refused', () => {
  expect(() => toFlagd('checkout', { rules: 1 })).toThrow(
    'the project checkout is refused: rules: expected a list, got 1',
  );
});

const passes = (project: string, value: Project, user: GateUser): boolean =>
  evaluateProject(compileProject(value, { project, now: () => NOW, laser: () => undefined }), user).pass;

async function providerOf(projects: Readonly<Record<string, Project>>): Promise<Client> {
  const file = join(folder, 'flags.json');
  const flags = Object.assign({}, ...Object.entries(projects).map(([name, it]) => toFlagd(name, it).flags)) as object;
  writeFileSync(file, JSON.stringify({ flags }));
  await OpenFeature.setProviderAndWait(
    new FlagdProvider({ resolverType: 'in-process', offlineFlagSourcePath: file, cache: 'disabled' }),
  );
  return OpenFeature.getClient();
}
