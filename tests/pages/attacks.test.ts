import { mapTexts } from '../../domain/plainText';
import { renderCommandPage } from '../../pages/command';
import { renderDeployPage } from '../../pages/deploy';
import type { Frame } from '../../pages/frame';
import { renderHomePage } from '../../pages/home';
import type { CommandModel, HomeModel, PipelineModel, ReleaseModel } from '../../pages/models';
import { renderPipelinePage } from '../../pages/pipeline';
import { renderPipelinesPage } from '../../pages/pipelines';
import { renderProblemPage } from '../../pages/problem';
import { renderReleasePage } from '../../pages/release';
import { renderCopiesPage, renderSignInFailure, renderSignInPage } from '../../pages/signIn';
import { PAGE_ATTACKS } from '../builders/attackTexts';
import { action, children, release, revertedDeploy } from '../builders/cliSamples';
import * as world from '../builders/pageWorld';
import * as records from '../builders/recordPages';
import { specOf } from '../builders/pipelineWorld';

const offer = {
  verb: 'allow-artifact',
  target: 'kvstore',
  artifact: 'kv@13',
  effect: 'kv@13 may be deployed',
} as const;
const buttons = { commands: [offer, { ...offer, verb: 'pick', user: 'shop', phase: 'half' } as const], why: 'a rule' };
const row = { release: world.baking(), status: world.baking() };

const HOME: HomeModel = {
  ...{
    forViewer: { releases: [row], pipelines: [world.listed('held', { state: 'held' })] },
    reverting: ['kvstore/13'],
  },
  ...{ underWay: [row], stopped: [world.listed('kvstore')], failed: [row], isEmpty: false },
};
const PIPELINE: PipelineModel = {
  ...{ pipeline: world.busyPipeline(), spec: specOf(), newest: [world.baking()], deploys: [world.running()] },
  ...{ stale: null, buttons },
};
const RELEASE: ReleaseModel = {
  ...{ release: world.baking(), deploys: [world.running()], stale: 'no worker polls', buttons },
  waits: [{ release: 12, action: 'deploy', why: 'behind kvstore/12', until: '2026-11-20T15:00:00.000Z' }],
};
const COMMAND: CommandModel = {
  ...{
    command: offer,
    effect: 'kv@13 may be deployed',
    consequences: ['It does so.'],
    seen: 'seen',
    checks: ['errors'],
  },
  ...{ given: { reason: 'why', 'version.source': '14' }, refusal: { message: 'not now', hint: 'look' } },
  start: { key: 'key', inputs: [{ name: 'source', latest: '14' }] },
};
const BLOCKED = release({
  children: children(),
  actions: [action({ state: 'blocked', blockedBy: 'waiting', approval: { needed: 2, by: ['user:sam'], notBy: 'a' } })],
});
const FAILURE = { status: 500, code: 'internal', message: 'it failed', hint: 'look', retryable: true };
const WAYS = { to: '/pipelines', providers: [{ entry: 'e', name: 'id' }], tokenForm: 'csrf', links: true };

/** A page, and the fields of the frame that come from outside. */
interface Attackable {
  readonly model: unknown;
  readonly render: (model: never, frame: Frame) => string;
}

const toAttackable = <M>(model: M, render: (model: M, frame: Frame) => string): Attackable => ({ model, render });

const PAGES: Readonly<Record<string, Attackable>> = {
  home: toAttackable(HOME, renderHomePage),
  pipelines: toAttackable(
    { ...world.PAGE_OF_PIPELINES, filters: { q: 'q', owner: 'o', label: 'l', state: 's' }, isLater: true },
    renderPipelinesPage,
  ),
  pipeline: toAttackable(PIPELINE, renderPipelinePage),
  release: toAttackable(RELEASE, renderReleasePage),
  'odd release': toAttackable({ ...RELEASE, release: world.oddRelease(), deploys: [] }, renderReleasePage),
  'blocked release': toAttackable({ ...RELEASE, release: BLOCKED, deploys: [], stale: null }, renderReleasePage),
  deploy: toAttackable({ deploy: world.running(), stale: 'no worker polls', buttons }, renderDeployPage),
  'reverted deploy': toAttackable({ deploy: revertedDeploy(), stale: null, buttons }, renderDeployPage),
  command: toAttackable(COMMAND, renderCommandPage),
  problem: toAttackable(FAILURE, renderProblemPage),
  'sign-in': toAttackable(WAYS, renderSignInPage),
  'sign-in failure': toAttackable(FAILURE, renderSignInFailure),
  copies: toAttackable({ detail: 'why' }, ({ detail }, frame) => renderCopiesPage(detail, '12:00', frame)),
  ...Object.fromEntries(
    records.NAMES.map((name) => [name, toAttackable(records.MODELS[name], records.RENDERERS[name] as never)]),
  ),
};

/** Words of the protocol on which a page decides: with another one it leaves out what it would show. */
const KEPT = /^[a-zA-Z-]{1,16}$|^\d{4}-\d\d-\d\dT|^[0-9a-f]{40}$/;

const FRAME = { ...world.FRAME, viewer: 'user:alice', csrf: 'csrf', notice: 'done', path: '/pipelines?q=a' };
const spoilFrame = (attack: string): Frame => ({
  ...FRAME,
  ...{ viewer: `user:${attack}`, notice: attack, path: `/pipelines?q=${encodeURIComponent(attack)}` },
});

function findFaults(page: string): string[] {
  const elements = [...page.matchAll(/<[a-z0-9]+((?:\s+[^\s"=>]+(?:="[^"]*")?)*)\s*\/?>/gi)];
  const attributes = elements.flatMap(([, all = '']) => [...all.replace(/="[^"]*"/g, '').matchAll(/\S+/g)]);
  return [
    ...(page.match(/<script(?! src="\/assets)|<img|<svg onload|<\/textarea><b>|href="javascript:/gi) ?? []),
    ...(page.match(/[\u001b\u202e\u0007]/g) ?? []).map((character) => JSON.stringify(character)),
    ...attributes.map(([name]) => name).filter((name) => /^on|alert/.test(name)),
  ];
}

describe('a text from outside stays a text', () => {
  test.each(PAGE_ATTACKS)('in all fields at once of every page: %j', (attack) => {
    const spoil = (text: string): string => (KEPT.test(text) ? text : `${text}${attack}`);
    const faults = Object.entries(PAGES).flatMap(([name, { model, render }]) =>
      findFaults(render(mapTexts(model, spoil) as never, spoilFrame(attack))).map((fault) => `${name}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  test.each(Object.keys(PAGES))('in each field alone, also in words of the protocol and names, of: %s', (name) => {
    const { model, render } = PAGES[name]!;
    const undrawn = new Set<string>();
    for (const { field, spoiled } of spoilEachField(model, PAGE_ATTACKS.join(' '))) {
      const page = renderOrNull(() => render(spoiled as never, FRAME));
      if (page === null) undrawn.add(field.replaceAll('.*', '').split('.').at(-1) ?? '');
      else expect([field, findFaults(page)]).toEqual([field, []]);
    }
    expect([...undrawn].filter((field) => !DECIDES.test(field))).toEqual([]);
  });
});

/** A page may draw nothing at all for a word or a time that no answer of the API has: `state`, `startedAt`. */
const DECIDES = /^(at|.*At|since|until|.*Until|next|from|to|verb|kind|state|stage|outcomes?|verdict)$/;

function renderOrNull(render: () => string): string | null {
  try {
    return render();
  } catch {
    return null;
  }
}

/** The model with one text changed, once for each field; the elements of a list count as one field. */
function* spoilEachField(model: unknown, attack: string) {
  const fields = new Map<string, readonly (string | number)[]>();
  collectFields(model, [], fields);
  // Verbs are those of our own table, wherever they come from.
  for (const [field, path] of fields)
    if (!field.endsWith('.verb')) yield { field, spoiled: replaceAt(model, path, attack) };
}

function collectFields(value: unknown, path: readonly (string | number)[], found: Map<string, typeof path>): void {
  if (typeof value === 'string')
    return void found.set(path.map((part) => (typeof part === 'number' ? '*' : part)).join('.'), path);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    collectFields(inner, [...path, Array.isArray(value) ? Number(key) : key], found);
}

function replaceAt(value: unknown, [head, ...rest]: readonly (string | number)[], attack: string): unknown {
  if (head === undefined) return `${String(value)}${attack}`;
  if (Array.isArray(value)) return value.map((one, nth) => (nth === head ? replaceAt(one, rest, attack) : one));
  const fields = value as Record<string, unknown>;
  return { ...fields, [head]: replaceAt(fields[head], rest, attack) };
}
