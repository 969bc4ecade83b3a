import type { SwarmOptions } from '../../simulator/vessel/options';
import { simulateSwarm } from '../../simulator/vessel/swarm';

const MB = 1024 * 1024;

const OPTIONS: SwarmOptions = {
  ...{ seed: 1, hosts: 200, pieces: 24, pieceBytes: MB, upload: 8 * MB, sourceUpload: 16 * MB },
  ...{ regions: 3, racksPerRegion: 4, spreadMs: 1000, untilMs: 300_000 },
};

test('every host has a package from the others, long before a server alone could have sent it', () => {
  const report = simulateSwarm(OPTIONS);
  expect(report).toMatchObject({ honest: 200, whole: 200, violations: [] });
  expect(report.last).toBeLessThan((200 * 24 * 1000) / 16 / 10);
  expect(report.sourceMost).toBeLessThanOrEqual(2 + (2 * report.last) / 5000);
  expect(report.near[0]).toBeGreaterThan(report.near[2]);
});

test('the same seed is the same swarm', () => {
  const options = { ...OPTIONS, hosts: 50, faults: { liars: 0.1, slow: 0.1 } };
  expect(simulateSwarm(options)).toEqual(simulateSwarm(options));
  expect(simulateSwarm({ ...options, seed: 2 })).not.toEqual(simulateSwarm(options));
});

test.each([
  ['a tenth lies', { liars: 0.1 }],
  ['a tenth falls silent', { vanishing: 0.1, vanishWithinMs: 5000 }],
  ['a third is slow', { slow: 0.33 }],
  [
    'all of it happens, and the source dies once it has given everything',
    { liars: 0.05, vanishing: 0.05, slow: 0.1, sourceGoneAtMs: 15_000 },
  ],
])('every honest host that is up has all of it, and no host a wrong piece: %s', (_, faults) => {
  const { honest, whole, violations } = simulateSwarm({ ...OPTIONS, faults });
  expect({ whole, violations }).toEqual({ whole: honest, violations: [] });
});

test('a host takes two pieces at most of each liar, and throws them away', () => {
  const { lies, honest } = simulateSwarm({ ...OPTIONS, faults: { liars: 0.1 } });
  expect(lies).toBeGreaterThan(0);
  expect(lies).toBeLessThanOrEqual(2 * honest * (OPTIONS.hosts - honest));
});

test.each([
  [
    'a host that believes what it gets',
    'believes-peers',
    /^h\d+ takes the package for whole, and piece \d+ does not fit/,
  ],
  ['a host that stops too early', 'takes-half-for-whole', /^h\d+ takes the package for whole, and piece/],
  ['a source that gives without end', 'source-always-offers', /^the source served piece \d+ 3 times within 5 s/],
] as const)('the checkers see %s', (_, defect, expected) => {
  const { violations } = simulateSwarm({ ...OPTIONS, defect, faults: { liars: 0.1 } });
  expect(violations[0]).toMatch(expected);
});

test('the checkers see who does not get it: the source died too early', () => {
  const { violations } = simulateSwarm({ ...OPTIONS, hosts: 20, untilMs: 30_000, faults: { sourceGoneAtMs: 500 } });
  expect(violations).toEqual([expect.stringMatching(/^20 hosts are not whole after 30000 ms/)]);
});
