import { measureQuality, type KnownOutcome, type Share } from '../domain/health/quality';
import { caseOf, FAULTS, SIZES, WEATHERS, type Case } from './health-quality/cases';
import { judge, METHODS, type Method } from './health-quality/methods';

/**
 * `npx jiti bench/health-quality.ts [cases] [seed]`: how well checks tell bad versions from good ones, on labelled synthetic recordings. It compares
 * a plain threshold, one that has to hold for a while, and ranks, all with the evaluation that deploys use.
 */

function main(): void {
  const [count = 10_000, seed = 1] = process.argv.slice(2).map(Number);
  console.log(`${count} recordings, seed ${seed}`);
  const cases = Array.from({ length: count }, (_, nth) => caseOf(seed, nth));
  for (const method of Object.keys(METHODS) as Method[]) {
    const begun = performance.now();
    const judged = cases.map((of) => ({ of, outcome: judge(method, of) }));
    report(`${method} (${Math.round((performance.now() - begun) / 1000)} s)`, judged);
  }
}

function report(title: string, judged: readonly { of: Case; outcome: KnownOutcome }[]): void {
  const quality = (among: (of: Case) => boolean) =>
    measureQuality(judged.filter(({ of }) => among(of)).map(({ outcome }) => outcome));
  const all = quality(() => true);
  console.log(`\n${title}`);
  line('precision', percent(all.precision));
  line('recall', percent(all.recall));
  for (const size of SIZES)
    line(
      `  ${size}`,
      FAULTS.map(
        (fault) => `${fault} ${percent(quality((of) => of.size === size && of.fault === fault).recall, false)}`,
      ).join(', '),
    );
  line(
    'false positives',
    `${all.falsePositives} of ${all.falsePositives + all.trueNegatives}: ${percent(all.falseAlarms)}`,
  );
  for (const weather of WEATHERS)
    line(`  ${weather}`, percent(quality((of) => of.weather === weather).falseAlarms, false));
  if (all.delayMs) line('delay', `median ${minutes(all.delayMs.median)}, p90 ${minutes(all.delayMs.p90)}`);
}

const line = (name: string, value: string): void => console.log(`  ${name.padEnd(20)}${value}`);
const minutes = (ms: number): string => `${(ms / 60_000).toFixed(1)}m`;
const percent = ({ share, low, high }: Share, bounds = true): string =>
  share === null
    ? '–'
    : `${(share * 100).toFixed(1)}%${bounds ? ` (${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)})` : ''}`;

main();
