import { PAGE_PLACES, PAGE_ROWS } from './list';
import { pageFilter } from './looks';
import type { Context, Hono, MiddlewareHandler } from 'hono';
import { z } from 'zod';
import { ConveyorError, conveyorError, type ErrorCode } from '../../domain/errors';
import { parseId } from '../../domain/ids';
import { ASSETS } from '../../pages/assets';
import { renderDeployPage } from '../../pages/deploy';
import { getPagePath, PAGE_WIDTH, type Frame } from '../../pages/frame';
import { renderHomePage } from '../../pages/home';
import type { HomeModel, PipelinesModel } from '../../pages/models';
import { renderPipelinePage } from '../../pages/pipeline';
import { renderPipelinesPage } from '../../pages/pipelines';
import { renderProblemPage } from '../../pages/problem';
import { renderReleasePage } from '../../pages/release';
import { authenticate } from '../auth';
import { parseQuery } from '../body';
import type { ServerDeps } from '../deps';
import { describeFailure } from '../failures';
import { PAGE_HEADERS } from '../pageHeaders';
import type { PageEnv } from '../sessions/viewer';
import { remoteAddress } from '../strangers';
import type { OfferedCommand } from '../../domain/commandOffers';
import type { Sessions } from '../sessions';
import type { KeyedQueue } from '../turns';
import { findButtons, listModelOffers, serveCommands, type CommandPages } from './commands';
import { findForViewer } from './forViewer';
import { PageReads } from './reads';
import { readViewerZone } from './viewerZone';
import { hashModel, type PageStreams, type StreamViewer } from './streams';

/** The paths of the pages and of their JSON, which have the same readers as reads of `/v1`. */
export const PAGE_PATHS: readonly string[] = [
  ...['/', '/index.json', '/pipelines.json', '/pipelines/*', '/releases/*'],
  ...PAGE_ROWS.flatMap(({ paths }) => paths),
];

/** For the pages of `readPages.ts`. */
export { isTwin, toFrame, withPageHeaders };

/** A path with a hash of the content never gets another content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const pipelinesQuery = z.object({
  ...{ q: pageFilter, owner: pageFilter, label: pageFilter },
  state: z.enum(['', 'active', 'held', 'frozen']).default(''),
  cursor: z.string().max(4_010).optional(),
});

/** Adds the pages to an app; who may read them is decided before. */
export function servePages(app: Hono, deps: ServerDeps, { sessions, turns, streams }: PageMeans): void {
  const reads = new PageReads(deps);
  const pages: CommandPages = { deps, reads, turns, sessions, toFrame: (c) => toFrame(c, deps, sessions) };
  const withButtons = <M extends object>(model: M, c: Context, offers: readonly OfferedCommand[]) =>
    findButtons(c, pages, offers).then((buttons) => ({ ...model, buttons }));
  serveCommands(app, pages, withPageHeaders);
  for (const { path, type, content } of ASSETS)
    app.get(path, withPageHeaders, (c) => c.body(content, 200, { 'content-type': type, 'cache-control': FOR_EVER }));
  const serve = <M extends object>(
    path: string,
    { read, render, twin = read, more = (found) => Promise.resolve(found) }: LivePage<M>,
  ): void => {
    app.get(path, withPageHeaders, async (c) => {
      c.header('cache-control', 'private, no-cache');
      if (isTwin(c)) return c.json(await twin(c));
      c.header('vary', 'accept', { append: true });
      const found = await read(c);
      if (found instanceof Response) return found;
      const model = hashModel(found);
      if (isStream(c)) return openPageStream(c, { streams, sessions, read, model });
      return c.html(render(await more(found, c), { ...(await toFrame(c, deps, sessions)), model }));
    });
  };
  const home: LivePage<HomeModel> = {
    read: () => reads.home(),
    more: async (model, c) => ({ ...model, forViewer: await findForViewer(c, pages, model) }),
    render: renderHomePage,
  };
  const pipelines: LivePage<PipelinesModel> = {
    read: (c) => {
      const { cursor = '', ...filters } = parseQuery(c, pipelinesQuery);
      return reads.pipelines(filters, cursor === '' ? undefined : cursor);
    },
    render: renderPipelinesPage,
  };
  for (const path of ['/', '/index.json']) serve(path, home);
  for (const path of ['/pipelines', '/pipelines.json']) serve(path, pipelines);
  const twin = (c: Context) => reads.status(c, readId(c));
  serve('/pipelines/:name', {
    read: (c) => reads.pipeline(c, readId(c)),
    more: (model, c) => withButtons(model, c, listModelOffers.pipeline(model)),
    ...{ render: renderPipelinePage, twin },
  });
  serve('/releases/:pipeline/:n', {
    read: (c) => reads.release(c, readId(c)),
    more: (model, c) => withButtons(model, c, listModelOffers.release(model)),
    ...{ render: renderReleasePage, twin },
  });
  serve('/releases/:pipeline/:n/:action', {
    read: (c) => readDeploy(c, reads),
    more: (model, c) => withButtons(model, c, listModelOffers.deploy(model)),
    ...{ render: renderDeployPage, twin },
  });
}

interface StreamOpening {
  readonly streams: PageStreams;
  readonly sessions: Sessions | undefined;
  readonly read: (c: Context) => Promise<object>;
  /** The hash of the model. */
  readonly model: string;
}

/** Tells a browser when this page has changed. All readers of the page share its looks, which are those of no person. */
function openPageStream(c: Context, { streams, sessions, read, model }: StreamOpening): Response {
  const { session = null } = (c as Context<PageEnv>).var;
  // Later looks must not change the answer that has begun.
  const later = { req: c.req, header: () => undefined } as unknown as Context;
  const { pathname, search } = withoutNotice(c);
  const page = { key: `${pathname}${search}`, look: async () => hashModel(await read(later)) };
  const keeper = sessions?.keeper;
  const viewer: StreamViewer = {
    name: session?.principal ?? remoteAddress(c),
    untilMs: session?.untilMs ?? Infinity,
    isOver: () => session !== null && (keeper?.isOver(session) ?? false),
    mayKnow: () => (session === null || keeper === undefined ? Promise.resolve(true) : keeper.isValid(session)),
  };
  return streams.open(c, page, viewer, model);
}

/** The script of a page asks for a stream at the address of the page. */
const isStream = (c: Context): boolean => /\btext\/event-stream\b/.test(c.req.header('accept') ?? '');

/** The address of a page, without the sealed effect of the last command. */
function withoutNotice(c: Context): { readonly pathname: string; readonly search: string; readonly done: string } {
  const { pathname, searchParams } = new URL(c.req.url);
  const done = searchParams.get('done') ?? '';
  searchParams.delete('done');
  return { pathname, search: searchParams.size === 0 ? '' : `?${searchParams.toString()}`, done };
}

interface PageMeans {
  /** Undefined on a server that signs no one in. */
  readonly sessions: Sessions | undefined;
  /** The queues of commands, which the API uses too. */
  readonly turns: KeyedQueue;
  readonly streams: PageStreams;
}

interface LivePage<M extends object> {
  readonly read: (c: Context) => Promise<M | Response>;
  readonly render: (model: M, frame: Frame) => string;
  /** Adds the parts that depend on the reader. */
  readonly more?: (model: M, c: Context) => Promise<M>;
  /** The same as JSON; by default the model. */
  readonly twin?: (c: Context) => Promise<object>;
}

/** No name has a dot, so the ending is no part of one. */
const isTwin = (c: Context): boolean => c.req.path.endsWith('.json');

/** The id in the path of a page or of its JSON. An encoded slash (`%2F`) must not turn it into another id. */
function readId(c: Context): string {
  const { name, pipeline = name ?? '', n, action } = c.req.param() as Readonly<Record<string, string | undefined>>;
  const parts = [pipeline, n, action].filter((part) => part !== undefined);
  const text = parts.join('/').replace(/\.json$/, '');
  if (parts.some((part) => part.includes('/')) || parseId(text) === undefined)
    throw conveyorError('invalid-id', { text, expected: 'the id of a pipeline, a release or a deploy' });
  return text;
}

const NOT_YET_A_DEPLOY: readonly ErrorCode[] = ['unknown-deploy', 'invalid-state'];

/** An action without a deploy, or whose deploy has not begun, is a part of the page of its release. */
async function readDeploy(c: Context, reads: PageReads) {
  const id = readId(c);
  try {
    return await reads.deploy(c, id);
  } catch (error) {
    if (!(error instanceof ConveyorError) || !NOT_YET_A_DEPLOY.includes(error.code)) throw error;
    const at = id.lastIndexOf('/');
    const { release } = await reads.release(c, id.slice(0, at));
    if (!release.actions.some(({ name }) => name === id.slice(at + 1))) throw error;
    return c.redirect(`${getPagePath(release.id)}#action-${id.slice(at + 1)}`);
  }
}

const withPageHeaders: MiddlewareHandler = async (c, next) => {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value);
  await next();
};

/** Whether a person looks at the answer: a page was asked for, or a browser asked for an unknown address. */
export function wantsPage(c: Context): boolean {
  if (!['GET', 'HEAD', 'POST'].includes(c.req.method) || isTwin(c) || c.req.path.startsWith('/v1/')) return false;
  return PAGE_PATH.test(c.req.path) || /\btext\/html\b/.test(c.req.header('accept') ?? '');
}

const PAGE_PATH = new RegExp(`^/($|(${[...new Set(PAGE_PATHS.map(toPlace))].join('|')})(/|$))`);

/** `pipelines` of `/pipelines/*`; for the first page a word that no path has. */
function toPlace(path: string): string {
  return path.split('/')[1]?.replace(/\.json$/, '') || 'index';
}

/** A failure in the words of the API, as a page. */
export async function answerFailurePage(c: Context, error: unknown, deps: ServerDeps): Promise<Response> {
  const failure = describeFailure(c, error);
  for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value);
  c.header('cache-control', 'no-store');
  return c.html(renderProblemPage(failure, await toFrame(c, deps)), failure.status);
}

async function toFrame(c: Context, deps: ServerDeps, sessions?: Sessions): Promise<Frame> {
  const { pathname, search, done } = withoutNotice(c);
  const { viewer: session = null, session: own = null } = (c as Context<PageEnv>).var;
  const notice = own === null || done === '' ? null : ((await sessions?.notices.open(own.id, done)) ?? null);
  const viewer =
    session?.principal ??
    (await authenticate(c, deps).then(
      ({ principal }) => principal,
      () => null,
    ));
  const view = { width: PAGE_WIDTH, color: false, now: deps.now(), timeZone: readViewerZone(c) };
  const signsIn = deps.signOuts !== undefined;
  return {
    view,
    viewer,
    csrf: session?.csrf ?? null,
    signsIn,
    path: `${pathname}${search}`,
    notice,
    places: PAGE_PLACES,
  };
}
