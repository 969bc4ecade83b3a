import { foldFor } from '../../cli/output';
import { renderChecks } from '../../cli/doctor/checksText';
import { isPlaceAlone, measureWidth, type View } from '../../render/paint';
import { renderProblems } from '../../render/problems';
import { conveyorError } from '../../domain/errors';
import { LISTS, RICH, RICH_CLIENT as client, STATUSES } from '../builders/pictures';
import { REPORTS } from '../builders/reportPictures';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';

const viewOf = (width: number): View => ({ width, color: false, now: NOW, timeZone: 'UTC' });

const STOPPED =
  'check its log and its machine; lsof -i :7233 names its process: where ps -o stat says T it was stopped, and kill -CONT 29049 continues it; workflows continue once it answers, and nothing is lost';
const MOVED = '/home/night/.conveyor/archive.duckdb and /srv/night/db/temporal.db are already there';
const MOVE =
  'move them away: mv /home/night/.conveyor/archive.duckdb /home/night/.conveyor/archive.duckdb.20261128T021013Z && mv /srv/night/db/temporal.db /srv/night/db/temporal.db.20261128T021013Z';

/** Output of commands besides pictures and lists. */
const MESSAGES: Readonly<Record<string, (view: View) => string>> = {
  'checks of doctor': (view) =>
    renderChecks(
      [
        {
          name: 'virtual-time test server',
          state: 'ok',
          found: '/root/.cache/conveyor/test-server-1.32.0/test-server',
          how: null,
        },
        {
          name: 'Temporal',
          state: 'missing',
          found: 'it accepts connections and did not answer within 10s: it is frozen',
          how: STOPPED,
        },
      ],
      view,
    ),
  'problems of a pipeline file': (view) =>
    renderProblems(
      [
        {
          file: 'examples/kvstore/pipeline.yaml',
          problems: [
            {
              ...{
                line: 32,
                column: 9,
                severity: 'warning',
                code: 'no-whole-region',
                path: 'actions.deploy.with.phases',
              },
              ...{ message: 'no phase covers a whole region before the last one covers them all' },
              hint: 'add a phase such as { name: region, scope: "region:x", amount: 100% }, or accept the risk by naming it',
            },
          ],
        },
      ] as never,
      view,
    ),
  'an error': ({ width }) =>
    foldFor(
      { isTTY: width !== Infinity, columns: width },
      `error: restore-refused: nothing was restored: ${MOVED}\nhint: ${MOVE}`,
    ),
  'a confirmation': ({ width }) =>
    foldFor(
      { isTTY: width !== Infinity, columns: width },
      '✔ kvstore/14: release kvstore/14 brings back what ran before kvstore/13, and the pipeline is held; conveyor unhold kvstore --reason "…" lets deploys start again',
    ),
};

const PICTURES = [
  ...Object.entries(STATUSES),
  ...Object.entries(REPORTS),
  ...Object.entries(MESSAGES),
  ...Object.entries(LISTS).map(([name, { draw }]) => [name, draw] as const),
].flatMap(([name, draw]) => [80, 120, 200].map((width) => [name, width, draw] as const));

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');
const linksOf = (text: string): string[] => wordsOf(text).filter((word) => word.startsWith('http'));
/** A command to copy has `--reason "…"`; every other ellipsis stands for something that was cut. */
const withoutBlanks = (text: string): string => text.replaceAll('"…"', '""');

describe.each(PICTURES)('%s on a terminal of %i columns', (_name, width, draw) => {
  const text = draw(viewOf(width));
  const whole = draw(viewOf(Infinity));

  test('has no longer line but a link, a path or a command, which is whole', () => {
    const long = text.split('\n').filter((line) => measureWidth(line) > width);
    expect(long.filter((line) => !isPlaceAlone(line))).toEqual([]);
    expect(linksOf(text)).toEqual(linksOf(whole));
  });

  test('cuts no word without an ellipsis', () => {
    const words = new Set(wordsOf(whole));
    expect(wordsOf(text).filter((word) => !words.has(word) && !/^…|…$/.test(word))).toEqual([]);
  });

  test('looks with colours as it does without', () => {
    const coloured = draw({ ...viewOf(width), color: true });
    expect(coloured.replace(/\u001b\[\d+m/g, '')).toBe(text);
  });

  test('begins each value of a heading, and continues it, in one column', () => {
    const [heading = ''] = text.split('\n\n');
    const fields = heading.split('\n').filter((line) => /^[A-Z][a-z]+: {2}/.test(line));
    expect(new Set(fields.map((line) => /^\w+: +/.exec(line)?.[0].length)).size).toBeLessThan(2);
  });

  test('ends no line with spaces', () => {
    expect(text.split('\n').filter((line) => /\s$/.test(line))).toEqual([]);
  });
});

describe.each(Object.entries(LISTS))('%s', (_name, { ids, draw }) => {
  test.each([80, 120, 200])('has one line a row on a terminal of %i columns', (width) => {
    const [heading = '', ...lines] = draw(viewOf(width)).split('\n');
    expect(heading).toMatch(/^[A-Z]/);
    expect(lines.slice(0, ids.length).map((line) => ids.find((id) => line.startsWith(id)))).toEqual(ids);
    expect(lines[ids.length] ?? '').not.toMatch(/^ /);
  });

  test('is whole with -o wide, and in a pipe', () => {
    expect(withoutBlanks(draw(viewOf(Infinity)))).not.toContain('…');
    expect(withoutBlanks(draw(viewOf(80), true))).not.toContain('…');
  });
});

test('short cells, such as a day with its time, stay whole as long as longer ones can be cut', () => {
  expect(LISTS['history']!.draw(viewOf(80))).toMatch(/source=13 +12 Nov 09:00:00 +–$/m);
});

test('messages are folded between words, under the text that it continues', () => {
  const drawn = Object.values(MESSAGES).flatMap((draw) => draw(viewOf(80)).split('\n'));
  expect(drawn).toEqual([
    '✔ virtual-time test server  /root/.cache/conveyor/test-server-1.32.0/test-server',
    '✖ Temporal                  it accepts connections and did not answer within',
    '                            10s: it is frozen',
    '    → check its log and its machine; lsof -i :7233 names its process: where',
    '      ps -o stat says T it was stopped, and kill -CONT 29049 continues it;',
    '      workflows continue once it answers, and nothing is lost',
    '',
    '1 thing missing or broken.',
    'examples/kvstore/pipeline.yaml:32:9: warning no-whole-region:',
    '  actions.deploy.with.phases: no phase covers a whole region before the last one',
    '  covers them all',
    '    add a phase such as { name: region, scope: "region:x", amount: 100% }, or',
    '      accept the risk by naming it',
    '',
    '0 errors, 1 warning',
    'error: restore-refused: nothing was restored:',
    '       /home/night/.conveyor/archive.duckdb and /srv/night/db/temporal.db are',
    '       already there',
    'hint: move them away:',
    'mv /home/night/.conveyor/archive.duckdb /home/night/.conveyor/archive.duckdb.20261128T021013Z &&',
    '      mv /srv/night/db/temporal.db /srv/night/db/temporal.db.20261128T021013Z',
    '✔ kvstore/14: release kvstore/14 brings back what ran before kvstore/13, and the',
    '  pipeline is held; conveyor unhold kvstore --reason "…" lets deploys start',
    '  again',
  ]);
});

test('an error is folded on a terminal, and has one line each for message and hint in a pipe', async () => {
  const fails = { status: () => Promise.reject(conveyorError('restore-refused', { why: MOVED, how: MOVE })) };
  const typed = (isTTY: boolean) => run(['status', 'kvstore'], { client: fails as never, columns: 80, isTTY });
  expect((await typed(true)).err).toMatch(/^error: restore-refused: nothing was restored:\n {7}\S/);
  expect((await typed(false)).err.trimEnd().split('\n')).toHaveLength(2);
});

test('the cause of a finder that fails is whole at every width', () => {
  const [heading, row = '', ...below] = LISTS['list finders']!.draw(viewOf(80)).split('\n');
  expect(heading).toMatch(/^FINDER .* SAID$/);
  expect(row).toMatch(/ …$/);
  expect(below.join(' ').replace(/ +/g, ' ')).toMatch(
    /^commits-of-payments since 11m 10s ago: connect ECONNREFUSED: .* as the on-call of storage saw first$/,
  );
});

test('an id is cut at its start if a terminal has no room, since its end tells it from others', () => {
  const rows = LISTS['list deploys']!.draw(viewOf(60)).split('\n');
  expect(rows[1]).toMatch(/^…\S*113\/deploy-europe /);
});

test('a report whose columns have no room continues them below, each row under its first cell', () => {
  const of = (name: string, title: RegExp): string[] => (title.exec(REPORTS[name]!(viewOf(80)))?.[0] ?? '').split('\n');
  expect(of('stats', /^Where multi-phase deploys failed\n[^]*?(?=\n\n)/m)).toEqual([
    'Where multi-phase deploys failed',
    'CATEGORY                      DEPLOYS  0-10%  10-20%  20-30%  30-40%  40-50%',
    'storage-services-of-payments  4        0%     0%      0%      100%    0%',
    'CATEGORY                      50-60%  60-70%  70-80%  80-90%  90-100%',
    'storage-services-of-payments  0%      0%      0%      0%      0%',
  ]);
  expect(of('plan', /^PHASE[^]*?(?=\n\n)/m)).toEqual([
    'PHASE                   SCOPE                            AMOUNT  REACHES  TASKS',
    '1 first-host-of-europe  region:eu-west-with-a-long-name  1%      1.23%    6000',
    '2 completion            region:eu-west-with-a-long-name  1%      1.23%    6000',
    'PHASE                   STARTS            UPDATED  BAKED',
    '1 first-host-of-europe  Fri 20 Nov 12:00  12:25    Mon 23 Nov 12:25',
    '2 completion            Fri 20 Nov 12:00  12:25    Mon 23 Nov 12:25',
    'PHASE                   UNITS',
    '1 first-host-of-europe  payments-ledger-eu-north: 1200, payments-ledger-eu-west:',
    '                        1200, payments-ledger-eu-south: 1200,',
    '                        payments-ledger-eu-east: 1200, … 1 more',
    '2 completion            payments-ledger-eu-north: 1200, payments-ledger-eu-west:',
    '                        1200, payments-ledger-eu-south: 1200,',
    '                        payments-ledger-eu-east: 1200, … 1 more',
  ]);
});

describe('a pipe and JSON have everything', () => {
  test.each(Object.entries(REPORTS))('%s, in lines of their own length and without an ellipsis', (_name, draw) => {
    const lines = draw(viewOf(Infinity)).split('\n');
    expect(lines.filter((line) => /…(?! \d+ more)/.test(line))).toEqual([]);
    expect(draw(viewOf(10_000)).split('\n')).toEqual(lines);
  });

  test.each([RICH.release.id, RICH.deploy.id])('the status of %s', async (id) => {
    const { out } = await run(['status', id], { client, columns: 80 });
    expect(out).toContain(RICH.deploy.paused?.reason);
    const json = await run(['status', id, '-o', 'json'], { client, columns: 80, isTTY: true });
    expect(json.out).toContain(RICH.deploy.paused?.reason);
  });
});

test('a live picture has the same lines, and draws its links whole', async () => {
  const ended = { status: () => Promise.resolve({ ...RICH.deploy, state: 'ended', outcome: 'reverted' } as never) };
  const { out } = await run(['watch', RICH.deploy.id], { client: ended, columns: 80, isTTY: true });
  const lines = out.replace(/\u001b\[[?0-9;]*[A-Za-z]/g, '').split('\n');
  expect(lines.filter((line) => measureWidth(line) >= 80 && !isPlaceAlone(line))).toEqual([]);
  expect(lines).toContain(RICH.deploy.webUi);
  expect(withoutBlanks(lines.join('\n')).match(/…/g)).toHaveLength(1);
});
