import type { DeployStatus, PipelineSummary, ReleaseStatus } from '../../domain/views';
import { PAGE_LIMITS } from '../../domain/limits';
import { ASSETS, SCRIPT, STYLE } from '../../pages/assets';
import { renderDeployPage } from '../../pages/deploy';
import { renderHomePage } from '../../pages/home';
import type { HomeModel, ListedRelease, PipelineModel, ReleaseModel } from '../../pages/models';
import { renderPipelinePage } from '../../pages/pipeline';
import { renderPipelinesPage } from '../../pages/pipelines';
import { renderProblemPage } from '../../pages/problem';
import { renderReleasePage } from '../../pages/release';
import { renderDeploy } from '../../render/deploy';
import type { View } from '../../render/paint';
import { renderPipeline } from '../../render/pipeline';
import { renderRelease } from '../../render/release';
import { forPeople } from '../../render/times';
import * as world from '../builders/pageWorld';
import { action, children, deploy, pipeline, release, revertedDeploy } from '../builders/cliSamples';

const { FRAME } = world;
const NO_FILTERS = { q: '', owner: '', label: '', state: '' };

const home = (over: Partial<HomeModel> = {}): string =>
  renderHomePage(
    { forViewer: null, reverting: [], underWay: [], stopped: [], failed: [], isEmpty: false, ...over },
    FRAME,
  );
const pipelinePage = (over: Partial<PipelineModel> = {}): string =>
  renderPipelinePage({ pipeline: pipeline(), spec: null, newest: [], deploys: [], stale: null, ...over }, FRAME);
const releasePage = (
  given: ReleaseStatus,
  deploys: readonly DeployStatus[] = [],
  over: Partial<ReleaseModel> = {},
): string => renderReleasePage({ release: given, deploys, waits: [], stale: null, ...over }, FRAME);
const deployPage = (given: DeployStatus, stale: string | null = null): string =>
  renderDeployPage({ deploy: given, stale }, FRAME);
const list = { ...world.PAGE_OF_PIPELINES, filters: NO_FILTERS, isLater: false };

/** Pipelines with ten different ends each, a description of full length, and a reason as long as lists have it. */
const fullList = (count: number): readonly PipelineSummary[] =>
  Array.from({ length: count }, (_, nth) =>
    world.listed(`payments-gateway-${nth}`, {
      description: 'The service that takes payments. '.repeat(60).slice(0, 2_000),
      outcomes: (['succeeded', 'failed', 'reverted', 'cancelled', 'succeeded'] as const).flatMap((end) => [
        end,
        'failed',
      ]),
      owners: ['group:payments', 'group:platform-reliability'],
      labels: { team: 'payments', tier: '1', region: 'eu-west' },
      active: [13, 14],
      ...{ state: 'held', stopped: { actor: 'user:alice', at: '2026-11-20T13:40:00.000Z', reason: 'r'.repeat(200) } },
    }),
  );

/** Releases with long names, every second with its actions, half of which wait for a person. */
const fullRows = (count: number, name: string): ListedRelease[] =>
  Array.from({ length: count }, (_, nth) => {
    const id = `${name}-payments-gateway-${nth}/13`;
    const status = { ...(nth % 4 < 2 ? world.baking() : world.wideRelease()), id };
    return { release: status, status: nth % 2 === 0 ? status : null };
  });

/** The text of a page, as a reader meets it, with each run of spaces as one. */
const textIn = (page: string): string =>
  page
    .replace(/<(title|style)>.*?<\/\1>/gs, ' ')
    .replace(/<\/?(a|b|bdi|code|time|summary|span(?! class="(about|line)))\b[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ');

const PAGES: readonly (readonly [string, () => string])[] = [
  ['the first page', () => home({ underWay: [{ release: world.baking(), status: world.baking() }] })],
  ['the list of pipelines', () => renderPipelinesPage(list, FRAME)],
  ['a list that is full', () => renderPipelinesPage({ ...list, pipelines: fullList(PAGE_LIMITS.rows.max) }, FRAME)],
  ['the first page with 80 pipelines that are stopped', () => home({ stopped: fullList(80) })],
  [
    'the first page with 120 releases under way, as many for its reader, and all else that it shows at once',
    () =>
      home({
        ...{ underWay: fullRows(120, 'under'), failed: fullRows(40, 'failed'), stopped: fullList(80) },
        forViewer: { releases: fullRows(120, 'mine'), pipelines: fullList(80) },
      }),
  ],
  [
    'a pipeline',
    () =>
      pipelinePage({
        pipeline: world.busyPipeline(),
        newest: [world.baking(), world.succeeded(12)],
        deploys: [world.running()],
      }),
  ],
  ['a release', () => releasePage(world.baking(), [world.running()])],
  ['a release with 64 actions', () => releasePage(world.wideRelease())],
  ['a release with long and odd texts', () => releasePage(world.oddRelease())],
  ['a deploy', () => deployPage(world.running())],
  ['a reverted deploy', () => deployPage(revertedDeploy())],
  ['a deploy of 43 phases and 10,000 units', () => deployPage(world.hugeDeploy())],
  [
    'a failure',
    () => renderProblemPage({ status: 404, code: 'not-found', message: 'no', hint: 'look', retryable: false }, FRAME),
  ],
];

describe('a page', () => {
  test.each(PAGES)('%s is smaller than 100 kB, has no script, no style of its own, and each id once', (_name, make) => {
    const page = make();
    expect(Buffer.byteLength(page)).toBeLessThan(100_000);
    expect(page).not.toMatch(
      /<script(?! src="\/assets\/live-[0-9a-f]+\.js" defer=""><\/script>)|<style|\sstyle=|\son[a-z]+=|javascript:/i,
    );
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
    expect(page.match(/<h1\b/g)).toHaveLength(1);
    expect(page).toMatch(/^<!doctype html><html lang="en">/);
    expect(
      [...page.matchAll(/(?:src|href)="(https?:[^"]*)"/g)]
        .map(([, to]) => to)
        .filter((to) => !/localhost|example\.com/.test(to ?? '')),
    ).toEqual([]);
  });

  test('loads less than 40 kB of its own files', () => {
    expect(ASSETS.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)).toBeLessThan(40_000);
    expect(SCRIPT.content.split('\n').length).toBeLessThanOrEqual(151);
    expect(STYLE.content).not.toMatch(/url\(|@import/);
  });
});

/** Sentences and cells of a status: parts of a line that two spaces separate, without the lines of the tree and what is drawn. */
const cellsIn = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line) => line.replace(/^[\s│├└─]*/, '').split(/ {2,}/))
    .map((cell) =>
      cell
        .replace(/^[\s│├└─]*(\d+ )?/, '')
        .replace(/^[✔✖◌⚠◷‖·↩] /, '')
        .replace(/[█▓░▁▂▃▄▅▆▇]+/g, '')
        .trim(),
    )
    .map((cell) =>
      cell.replace(
        /^(Name|Next|Timeline|Health|Web UI|Children|Exclusion|Offers|Finders|Waiting|RELEASE|STATE|ARTIFACTS|STARTED|TOOK)$/,
        '',
      ),
    )
    .filter((cell) => cell !== '' && !/^[A-Z][a-z ]+:$/.test(cell) && !/^http/.test(cell));

const WIDE: View = { ...FRAME.view, compact: false };

describe('a page has every fact that status shows', () => {
  const withoutLabels = (text: string): string => text.replace(/^[A-Z][a-z ]+: +/gm, '');
  const missing = (status: string, page: string): string[] => {
    const text = textIn(page);
    return cellsIn(withoutLabels(status).replace(/ {2}since (?=\d\d:)/g, '  ')).filter(
      (cell) => !text.includes(cell.replace(/\s+/g, ' ')),
    );
  };

  test.each<[string, DeployStatus]>([
    ['that bakes', world.running()],
    ['that was reverted', revertedDeploy()],
    [
      'that is paused',
      deploy({ paused: { by: 'operator', actor: 'user:bob', at: '2026-11-20T14:02:00.000Z', reason: 'lunch' } }),
    ],
    [
      'that waits for a lock',
      deploy({
        state: 'waiting-lock',
        phases: [],
        summary: 'waits for lock/twine/kvstore',
        heldBy: { id: 'search/4', since: '2026-11-20T13:02:00.000Z' },
        lock: 'lock/twine/kvstore',
      }),
    ],
  ])('about a deploy %s', (_name, given) => {
    expect(missing(renderDeploy(forPeople(given, WIDE), WIDE), deployPage(given))).toEqual([]);
  });

  test.each<[string, ReleaseStatus, readonly DeployStatus[]]>([
    ['that runs', world.baking(), [world.running()]],
    [
      'whose deploy was reverted',
      release({ state: 'failed', endedAt: '2026-11-20T14:02:08.000Z' }),
      [revertedDeploy()],
    ],
    ['with children', release({ state: 'succeeded', children: children() }), []],
    [
      'that waits for approvals',
      release({
        actions: [
          action({
            state: 'blocked',
            blockedBy: 'waiting for 1 approval by group:sre',
            pickBy: [],
            endedAt: null,
            approval: { needed: 2, by: ['user:sam'], notBy: 'user:alice' },
          }),
        ],
      }),
      [],
    ],
  ])('about a release %s', (_name, given, deploys) => {
    const status = renderRelease(forPeople(given, WIDE), forPeople(deploys, WIDE), WIDE);
    expect(missing(status, releasePage(given, deploys))).toEqual([]);
  });

  test('about a pipeline', () => {
    const status = renderPipeline(forPeople(world.busyPipeline(), WIDE), WIDE).replace(/kvstore\/(\d+)/g, '#$1');
    const page = pipelinePage({ pipeline: world.busyPipeline() }).replace(/kvstore\/(\d+)/g, '#$1');
    expect(missing(status, page)).toEqual([]);
  });
});

describe('a page of nothing', () => {
  test('names the first commands to type', () => {
    expect(textIn(home({ isEmpty: true }))).toContain('conveyor init my-service');
    const none = { pipelines: [], next: null, total: 0, filters: NO_FILTERS, isLater: false };
    expect(textIn(renderPipelinesPage(none, FRAME))).toContain('conveyor apply my-service/pipeline.yaml');
    expect(textIn(pipelinePage({ pipeline: pipeline({ releases: [] }) }))).toContain(
      'conveyor release kvstore --artifact NAME=VERSION --wait',
    );
  });

  test('leads back to all pipelines if no pipeline fits the filters', () => {
    const none = { pipelines: [], next: null, total: 0, filters: { ...NO_FILTERS, owner: 'user:x' }, isLater: false };
    expect(textIn(renderPipelinesPage(none, FRAME))).toContain('No pipeline fits these filters. Show all');
  });
});

describe('the first page', () => {
  test('puts a release that waits for a person before the others, with the reason', () => {
    const text = textIn(
      home({
        underWay: [
          { release: world.wideRelease(), status: null },
          { release: world.baking(), status: world.baking() },
        ],
      }),
    );
    expect(text).toContain('1 release waits for a person');
    expect(text.indexOf('kvstore/13')).toBeLessThan(text.indexOf('wide/1'));
    expect(text).toContain('approve blocked: group:sre may pick (until 18:00, in 3h 57m)');
  });

  test('has a part for the reader only if the reader is known', () => {
    expect(home()).not.toContain('For you');
    expect(textIn(home({ forViewer: { releases: [], pipelines: [] } }))).toContain('For you Nothing waits for you.');
  });

  test('shows a release that waits for its reader once, above all others', () => {
    const row = { release: world.baking(), status: world.baking() };
    const forViewer = { releases: [row], pipelines: [world.listed('held-one', { state: 'held' })] };
    const page = home({ forViewer, underWay: [row] });
    expect(textIn(page)).not.toContain('waits for a person');
    expect(page.indexOf('held-one')).toBeLessThan(page.indexOf('id="under-way"'));
    expect(page.match(/kvstore\/13"/g)).toHaveLength(1);
  });
});

test('a page of a pipeline says that its newest release did not answer, and shows no older one in its place', () => {
  const page = pipelinePage({ pipeline: world.busyPipeline(), newest: [world.succeeded(12)] });
  expect(textIn(page)).toContain('kvstore/13 did not answer in time');
  expect(page).not.toContain('Graph of kvstore/12');
});

test('old information is marked as such, with the reason', () => {
  const text = textIn(
    releasePage(release({ actions: [], timeline: [] }), [], { stale: 'no worker polls for conveyor' }),
  );
  expect(text).toContain('Last known state. No worker answers');
  expect(text).toContain('no worker polls for conveyor');
});

test('the last values of a check are drawn with its limit and the value that it is compared with', () => {
  const base = world.running();
  const [row] = base.health;
  const draw = (over: object): string => deployPage({ ...base, health: [{ ...row!, ...over }] });
  const both = draw({ recent: [1, 3, 2], threshold: 4, reference: 2 });
  expect(both).toContain('0 to 4, last 3 evaluations; dashed: limit 4; dotted: compared with 2');
  expect(both.match(/<path class="(limit|reference)" d="M0 [\d.]+H220"/g)).toEqual([
    '<path class="limit" d="M0 4H220"',
    '<path class="reference" d="M0 22H220"',
  ]);
  const none = draw({ recent: [1, 3, 2], threshold: null, reference: Number.NaN });
  expect(none).toContain('0 to 3, last 3 evaluations</figcaption>');
});
