// `.ci/nightly [SEEDS]`: the night lane of the tests, then all kept chaos stories, and those of seeds that were never played, chosen by the day; a quarter as many of configuration and of offers.
'use strict';

const { execFileSync } = require('node:child_process');
const { availableParallelism } = require('node:os');
const { ensureBuild } = require('./build');
const { ensureDependencies } = require('./dependencies');
const { ensureTestServer } = require('./servers');
const { ROOT, Failed, handOver, report, say } = require('./steps');
const { playStories } = require('./stories');

const SEEDS = 1_000;
/** The distance between the first seeds of two days, and so the most seeds of a night. */
const A_DAY = 10_000;
const DAY_MS = 86_400_000;
/** The number of stories per process. */
const PORTION = 50;
/** The number of portions played at the same time: a story waits for its servers half of the time. */
const AT_A_TIME = availableParallelism() + 1;

/** The first seed of the day: a later day's seed is above all that an earlier day has played. */
const firstSeed = (nowMs) => Math.floor(nowMs / DAY_MS) * A_DAY;

/** The portions of a night, each for a separate process. */
function planPortions(seeds, from) {
  const lanes = [
    { count: seeds, more: {} },
    ...['configuration', 'offers'].map((kind) => ({ count: Math.ceil(seeds / 4), more: { kind } })),
  ];
  const [first, ...others] = lanes.flatMap(({ count, more }) =>
    Array.from({ length: Math.ceil(count / PORTION) }, (_, nth) => ({
      ...{ from: from + nth * PORTION, seeds: Math.min(PORTION, count - nth * PORTION) },
      ...more,
    })),
  );
  return [{ ...first, past: true }, ...others];
}

/** How to replay the findings of a portion; a portion that ended without a report is one finding. */
function listFindings({ from, seeds, kind }, { failed, isWhole }) {
  const again = (count, first) =>
    `npm run chaos -- --seeds ${count} --from ${first}${kind === undefined ? '' : ` --${kind}`}`;
  const isKept = (name) => name.endsWith('.json');
  const kept = failed.filter(isKept).map((file) => `npm run chaos -- --seeds 1 --from ${from} --past # ${file}`);
  if (failed.length > 0) return [...kept, ...failed.filter((name) => !isKept(name)).map((seed) => again(1, seed))];
  return isWhole ? [] : [again(seeds, from)];
}

/**
 * Runs the night lane, and plays a night, several portions at a time. Prints the output of portions with findings, and at the end each finding
 * as the command that replays it. @returns exit code
 */
async function runNight(seeds, nowMs) {
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim();
  await ensureDependencies();
  await ensureTestServer();
  await ensureBuild();
  const lane = await handOver(process.execPath, ['scripts/run.js', 'test:night']);
  const findings = lane === 0 ? [] : ['npm run test:night'];
  const left = planPortions(seeds, firstSeed(nowMs));
  const playWhatIsLeft = async () => {
    for (let portion = left.shift(); portion; portion = left.shift()) findings.push(...(await play(portion)));
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, playWhatIsLeft));
  for (const finding of findings) process.stdout.write(`found: ${finding}\n`);
  process.stdout.write(`${seeds} seeds from ${firstSeed(nowMs)} on ${commit}: ${findings.length} found\n`);
  return findings.length > 0 ? 1 : 0;
}

async function play(portion) {
  // A portion that could not be played does not hide the others.
  const played = await playStories(ROOT, portion).catch(({ message }) => ({ failed: [], output: message }));
  const found = listFindings(portion, played);
  if (found.length > 0) say(played.output);
  const what = portion.kind === undefined ? 'stories' : `stories of ${portion.kind}`;
  say(`${portion.seeds} ${what} from ${portion.from}: ${found.length} found`);
  return found;
}

function parseSeeds([text = String(SEEDS), ...more]) {
  const seeds = Number(text);
  if (more.length === 0 && Number.isInteger(seeds) && seeds > 0 && seeds <= A_DAY) return seeds;
  throw new Failed(`usage: .ci/nightly [SEEDS]: from 1 to ${A_DAY}, ${SEEDS} by default`, 2);
}

const main = async () => runNight(parseSeeds(process.argv.slice(2)), Date.now());

if (require.main === module) {
  main().then(
    (code) => (process.exitCode = code),
    (error) => (process.exitCode = report(error)),
  );
}

module.exports = { listFindings, firstSeed, planPortions };
