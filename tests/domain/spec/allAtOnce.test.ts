import { parsePipeline } from '../../../domain/spec/parse';

/** A mistake inside of a deploy hides no other: all is said at once. */
const codesOf = (phases: string, more = ''): string[] => {
  const text = `
pipeline: web
owners: [user:alice]
artifacts: { executable: { finder: manual } }
actions:
  deploy:
    type: deploy
    inputs: [executable]
    window: { timezone: Europe/Nowhere, days: [mon], from: '09:00', to: '17:00' }
    with:
      pushType: twine
      config: { jobs: [web] }
      phases:
${phases}
${more}`;
  return parsePipeline(text)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ code, path }) => `${code} ${path}`);
};
const ZONE = 'invalid-timezone actions.deploy.window.timezone';
const TWICE = '{ name: one, scope: "*", amount: 2 }';

test.each([
  ['a phase whose scope is none', '        - { name: one, scope: "region:", amount: 1 }'],
  ['a phase without an amount', '        - { name: two, scope: "*" }\n        - { name: one, scope: "*", amount: 1 }'],
  [
    'a phase with an amount that is none',
    '        - { name: two, scope: "*", amount: lots }\n        - { name: one, scope: "*", amount: 1 }',
  ],
])('beside %s a wrong time zone and a second phase of the same name are found', (_, phases) => {
  const found = codesOf(`${phases}\n        - ${TWICE}`);
  expect(found).toContain(ZONE);
  expect(found.filter((code) => code.startsWith('duplicate-phase'))).toHaveLength(1);
  expect(found).toHaveLength(3);
});

test('so they are beside a health check that is not whole', () => {
  const phases = `        - { name: one, scope: "*", amount: 1 }\n        - ${TWICE}`;
  const found = codesOf(phases, '      healthChecks:\n        - { name: errors, metric: errors }');
  expect(found).toContain(ZONE);
  expect(found.some((code) => code.startsWith('duplicate-phase'))).toBe(true);
});

test('a mistake behind an item that is not whole is found at its own place', () => {
  const phases = `        - { name: none, scope: "*" }\n        - { name: one, scope: "*", amount: 1 }\n        - ${TWICE}`;
  const checks = `      healthChecks:
        - { name: errors, metric: errors, trasform: [] }
        - { name: errors, metric: errors, threshold: { above: 1 }, lookback: soon }
        - { name: cpu, metric: cpu, threshold: { above: 1 } }
        - { name: cpu, metric: cpu, threshold: { above: 2 } }`;
  expect(codesOf(phases, checks)).toEqual(
    expect.arrayContaining([
      'duplicate-phase actions.deploy.with.phases[2].name',
      'duplicate-check actions.deploy.with.healthChecks[3].name',
    ]),
  );
});
