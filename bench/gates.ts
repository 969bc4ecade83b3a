import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FlagdProvider } from '@openfeature/flagd-provider';
import { OpenFeature } from '@openfeature/server-sdk';
import { createGatekeeper, toContext, toFlagd, type GateUser, type Project } from '../sdk';

/**
 * `npx jiti bench/gates.ts [seconds]`: gate checks a second on one core. It compares our gatekeeper with the client of OpenFeature with the
 * in-process provider of flagd, and with that provider alone, all on the same project, the same users and in the same run. The best of three rounds.
 */
const SECONDS = Number(process.argv[2] ?? 2);
const ROUNDS = 3;
const USERS = 10_000;
const NAME = 'checkout';

const PROJECT: Project = {
  rules: [
    { if: [{ restraint: 'id', in: Array.from({ length: 20 }, (_, n) => `developer-${n}`) }], pass: 1 },
    { if: [{ restraint: 'employee' }], pass: 0.1 },
    {
      if: [
        { restraint: 'app-version', min: '3.2.0' },
        { restraint: 'new-user', days: 30, not: true },
        { restraint: 'country', in: ['AT', 'CH', 'DE'] },
      ],
      pass: 0.05,
    },
    { if: [{ restraint: 'locale', in: ['en'] }], pass: 0.01 },
  ],
};

const COUNTRIES = ['AT', 'BR', 'CH', 'DE', 'FR', 'IN', 'JP', 'US'];
const users: readonly GateUser[] = Array.from({ length: USERS }, (_, n) => ({
  id: `user-${n}`,
  employee: n % 100 === 0,
  country: COUNTRIES[n % COUNTRIES.length],
  locale: n % 3 === 0 ? 'en-US' : 'de-DE',
  appVersion: `3.${n % 5}.${n % 7}`,
  createdAt: 1_700_000_000_000 + n * 8_640_000,
}));

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'conveyor-gates-'));
  const file = join(folder, 'flags.json');
  writeFileSync(file, JSON.stringify(toFlagd(NAME, PROJECT)));
  const provider = new FlagdProvider({ resolverType: 'in-process', offlineFlagSourcePath: file, cache: 'disabled' });
  await OpenFeature.setProviderAndWait(provider);
  const client = OpenFeature.getClient();
  const gates = createGatekeeper({ subscribe: (_, onValue) => (onValue(PROJECT), () => undefined) });
  const contexts = users.map(toContext);
  const logger = { error: ignore, warn: ignore, info: ignore, debug: ignore };
  const rows: [string, (at: number) => unknown, boolean][] = [
    ['check', (at) => gates.check(NAME, users[at] as GateUser), false],
    ['client of OpenFeature', (at) => client.getBooleanValue(NAME, false, contexts[at]), true],
    [
      'provider of flagd alone',
      (at) => provider.resolveBooleanEvaluation(NAME, false, contexts[at] ?? {}, logger),
      true,
    ],
  ];
  const [ours, ...theirs] = await best(rows);
  console.log(`${'checks a second'.padEnd(25)}`);
  for (const [name, rate] of [ours, ...theirs].flatMap((it) => (it ? [it] : [])))
    console.log(`${name.padEnd(25)} ${Math.round(rate).toLocaleString('en')}`);
  for (const [name, rate] of theirs)
    console.log(`${`ratio to ${name}`.padEnd(35)} ${((ours?.[1] ?? 0) / rate).toFixed(1)}`);
  await OpenFeature.close();
  rmSync(folder, { recursive: true, force: true });
}

const ignore = (): void => undefined;

async function best(
  rows: readonly [string, (at: number) => unknown, boolean][],
): Promise<(readonly [string, number])[]> {
  const rates = rows.map(() => 0);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, [, check, isAsync]] of rows.entries())
      rates[index] = Math.max(rates[index] ?? 0, await rateOf(check, isAsync));
  return rows.map(([name], index) => [name, rates[index] ?? 0] as const);
}

/** Awaits only checks that return a promise. */
async function rateOf(check: (at: number) => unknown, isAsync: boolean): Promise<number> {
  const began = performance.now();
  let checks = 0;
  while (performance.now() - began < SECONDS * 1000) {
    for (let at = 0; at < 1000; at += 1) {
      const answer = check((checks + at) % USERS);
      if (isAsync) await answer;
    }
    checks += 1000;
  }
  return (checks * 1000) / (performance.now() - began);
}

void main();
