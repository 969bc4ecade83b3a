import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { createHash } from 'node:crypto';
import { isSameOffer, listDeployOffers, listPipelineOffers, listReleaseOffers } from '../../domain/commandOffers';
import type { OfferedCommand } from '../../domain/commandOffers';
import { ConveyorError, conveyorError } from '../../domain/errors';
import { requireId } from '../../domain/target';
import { ALL_VERBS, INPUTS, inputRow, isStartVerb, START_VERBS, type InputName } from '../../domain/verbs';
import { renderCommandPage } from '../../pages/command';
import { getPagePath, type Frame } from '../../pages/frame';
import type { ButtonsModel, CommandModel, DeployModel, PipelineModel, ReleaseModel } from '../../pages/models';
import { describeConsequences, type CommandScene } from '../../render/consequences';
import type { Caller } from '../auth';
import { parseJsonBody } from '../body';
import { commandRequest } from '../commandRequest';
import type { ServerDeps } from '../deps';
import { describeFailure } from '../failures';
import { decideCommand } from '../rights';
import { buildCommand } from '../routes/commands';
import type { Sessions } from '../sessions';
import { refuseForm, type PageEnv } from '../sessions/viewer';
import type { KeyedQueue } from '../turns';
import type { PageReads } from './reads';
import { buildStartFields, startFromForm } from './starts';

/** The parts of a server behind the buttons of pages. */
export interface CommandPages {
  readonly deps: Pick<ServerDeps, 'config'>;
  readonly reads: PageReads;
  readonly turns: KeyedQueue;
  readonly sessions: Sessions | undefined;
  readonly toFrame: (c: Context) => Promise<Frame>;
}

type FormContext = Context<PageEnv>;

/** Each has the path of the same command in `/v1`. */
const PATHS = [
  '/pipelines/:name/commands/:verb',
  '/releases/:pipeline/:n/commands/:verb',
  '/releases/:pipeline/:n/:action/commands/:verb',
] as const;

/** Adds the pages on which people confirm commands, and the forms that give them. */
export function serveCommands(app: Hono, pages: CommandPages, headers: MiddlewareHandler): void {
  const forms: MiddlewareHandler = pages.sessions?.forms ?? (() => Promise.reject(refuseForm('it signs no one in')));
  const routes = new Hono<PageEnv>();
  for (const path of PATHS) {
    routes.get(path, headers, (c) => showPageCommand(c, pages));
    routes.post(path, headers, forms, (c) => takePageCommand(c, pages));
  }
  app.route('/', routes);
}

/** The page that says what a command would do. */
async function showPageCommand(c: FormContext, pages: CommandPages): Promise<Response> {
  const caller = c.get('caller') ?? null;
  if (c.get('session') == null || caller === null) {
    if (pages.sessions === undefined) throw conveyorError('unauthorized', { why: 'this server signs no one in' });
    const { pathname, search } = new URL(c.req.url);
    return c.redirect(`/sign-in?to=${encodeURIComponent(pathname + search)}`, 303);
  }
  const asked = readNamedCommand(c, (name) => c.req.query(name));
  const found = await findOffer(pages, asked, caller);
  return answerCommand(c, pages, found, {});
}

/**
 * Gives a command, and leads to the page about its target, or about the release that it has started. A refusal is shown on
 * the page of the command.
 */
async function takePageCommand(c: FormContext, pages: CommandPages): Promise<Response> {
  const [form, caller, session] = [c.get('form'), c.get('caller'), c.get('session')];
  if (form === undefined || caller === null || session === null) throw refuseForm('you are not signed in');
  const asked = readNamedCommand(c, (name) => form.get(name) ?? undefined);
  const given = Object.fromEntries([...form].filter(([name]) => name !== 'csrf' && name !== 'seen'));
  const found = await findOffer(pages, asked, caller);
  // A command without the right is sent too: the guard refuses it, and the audit records that as for any caller.
  if (!found.isDenied) {
    if (found.error !== undefined) return answerCommand(c, pages, found, given);
    if (form.get('seen') !== found.seen)
      return answerCommand(c, pages, { ...found, error: createStaleError(asked) }, given);
  }
  try {
    const { id, effect } = await giveCommand(pages, asked, caller, form);
    pages.reads.forget();
    const done = await pages.sessions?.notices.seal(session.id, `${id}: ${effect}`);
    return c.redirect(`${getPagePath(isStartVerb(asked.verb) ? id : asked.target)}?done=${done ?? ''}`, 303);
  } catch (error) {
    return answerCommand(c, pages, { ...found, error }, given);
  }
}

function giveCommand({ turns }: CommandPages, asked: NamedCommand, caller: Caller, form: URLSearchParams) {
  const { verb, target } = asked;
  if (isStartVerb(verb)) return startFromForm(turns, caller, { verb, target }, form);
  return turns.run(target, async () =>
    caller.client.command(target, verb, buildCommand(parseInputs(form), verb, caller.principal)),
  );
}

type NamedCommand = Omit<OfferedCommand, 'effect'>;

interface FoundOffer {
  readonly asked: NamedCommand;
  readonly scene: CommandScene;
  /** Null if the command is not possible now. */
  readonly offer: OfferedCommand | null;
  readonly seen: string;
  /** The caller has no right to it. */
  readonly isDenied?: true;
  /** Why it cannot be given, or was refused. */
  readonly error?: unknown;
}

/** The offer that a request names, as things are now, and the reason if the caller cannot have it. */
async function findOffer({ reads, deps }: CommandPages, asked: NamedCommand, caller: Caller): Promise<FoundOffer> {
  const { scene, offers } = await reads.scene(requireId(asked.target));
  const offer = offers.find((one) => isSameOffer(one, asked)) ?? null;
  const found = { asked, scene, offer, seen: offer === null ? '' : toFingerprint(offer, scene) };
  const decision = await decideCommand(reads.facts, deps.config, caller, asked);
  if (!decision.allowed)
    return { ...found, offer: null, isDenied: true, error: createDenial(asked, caller, decision.why) };
  if (offer === null)
    return { ...found, error: conveyorError('invalid-state', { verb: asked.verb, id: asked.target, why: NOT_NOW }) };
  return found;
}

const NOT_NOW = 'it does not accept this now';

const createDenial = ({ verb, target }: NamedCommand, { principal }: Caller, why: string) =>
  conveyorError('not-permitted', {
    ...{ actor: principal, pipeline: target.split('/')[0] ?? '', why },
    can: `${principal} ${verb} ${target}`,
  });

const createStaleError = ({ verb, target }: NamedCommand) =>
  conveyorError('invalid-state', {
    verb,
    id: target,
    why: 'its effect is another one since you opened the form; it is shown now',
  });

/** Changes if the command would do something else; an approval and a release cover exactly the artifacts that the person saw. */
const toFingerprint = (offer: OfferedCommand, { release, pipeline }: CommandScene): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        offer,
        offer.verb === 'pick' ? release?.artifacts : offer.verb === 'release' ? pipeline?.inputs : null,
      ]),
    )
    .digest('base64url')
    .slice(0, 22);

async function answerCommand(
  c: FormContext,
  { toFrame }: CommandPages,
  { asked, scene, offer, seen, error }: FoundOffer,
  given: CommandModel['given'],
): Promise<Response> {
  const failure = error === undefined ? undefined : describeFailure(c, error);
  const checks = [...new Set(scene.deploys.flatMap(({ health }) => health.map(({ check }) => check)))];
  const model: CommandModel = {
    // Nothing vouches for other texts of an address.
    command: offer ?? { verb: asked.verb, target: asked.target },
    ...{ effect: offer?.effect ?? null, seen, given, checks },
    consequences: offer === null ? [] : describeConsequences(scene, offer),
    refusal: failure ?? null,
    ...(isStartVerb(asked.verb) ? { start: buildStartFields(asked.verb, scene, given) } : {}),
  };
  c.header('cache-control', 'private, no-store');
  return c.html(renderCommandPage(model, await toFrame(c)), failure?.status ?? 200);
}

/** The command that a request names. An encoded slash (`%2F`) must not turn it into one for another id. */
function readNamedCommand(c: FormContext, read: (name: string) => string | undefined): NamedCommand {
  const params = c.req.param() as Readonly<Record<string, string | undefined>>;
  const { name, pipeline = name ?? '', n, action, verb: given } = params;
  const parts = [pipeline, n, action].filter((part) => part !== undefined);
  const [target, verb] = [parts.join('/'), [...ALL_VERBS, ...START_VERBS].find((one) => one === given)];
  if (verb === undefined) throw conveyorError('not-found', { what: `verb ${given ?? ''}` });
  if (parts.some((part) => part.includes('/'))) throw invalidId(target);
  requireId(target);
  const [approve, artifact, user, phase] = ['approve', 'artifact', 'user', 'phase'].map(
    (field) => read(field) || undefined,
  );
  return {
    ...{ verb, target },
    ...(approve === undefined ? {} : { approve: approve === 'true' }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(user === undefined ? {} : { user }),
    ...(phase === undefined ? {} : { phase }),
  };
}

const invalidId = (text: string) =>
  conveyorError('invalid-id', { text, expected: 'the id of a pipeline, a release or a deploy' });

/** The inputs of a form, checked as those of a request to `/v1`. @throws ConveyorError `invalid-request` */
function parseInputs(form: URLSearchParams) {
  const fields = (Object.keys(INPUTS) as InputName[]).flatMap((name) => {
    const value = form.get(name) ?? '';
    if (value === '' || name === 'action') return [];
    const { is } = inputRow(name);
    return [[name, is === 'flag' || is === 'choice' ? value === 'true' : value] as const];
  });
  const reason = (form.get('reason') ?? '').trim();
  return parseJsonBody(
    JSON.stringify({ ...Object.fromEntries(fields), ...(reason === '' ? {} : { reason }) }),
    commandRequest,
  );
}

/** The commands that a reader may give here. A reader without a session sees how to get one. */
export async function findButtons(
  c: Context,
  { reads, deps }: Pick<CommandPages, 'reads' | 'deps'>,
  offers: readonly OfferedCommand[],
): Promise<ButtonsModel | null> {
  if (offers.length === 0) return null;
  const { caller = null, session = null } = (c as FormContext).var;
  if (caller === null || session === null) return { commands: [], why: null };
  const decided = await Promise.all(
    offers.map(async (offer) => ({ offer, ...(await decideOrRefuse(reads, deps, caller, offer)) })),
  );
  const denied = decided.filter(({ allowed }) => !allowed);
  const permitted = decided.filter(({ allowed }) => allowed).map(({ offer }) => offer);
  return { commands: permitted, why: permitted.length > 0 ? null : (denied[0]?.why ?? null) };
}

async function decideOrRefuse(reads: PageReads, deps: CommandPages['deps'], caller: Caller, offer: OfferedCommand) {
  try {
    return await decideCommand(reads.facts, deps.config, caller, offer);
  } catch (error) {
    if (!(error instanceof ConveyorError)) throw error;
    return { allowed: false, why: error.message } as const;
  }
}

/** The offers of the pages; information that is old offers nothing. */
export const listModelOffers = {
  pipeline: ({ pipeline, stale }: PipelineModel) => (stale === null ? listPipelineOffers(pipeline) : []),
  release: ({ release, deploys, pipeline = null, stale }: ReleaseModel) =>
    stale === null ? listReleaseOffers(release, deploys, pipeline) : [],
  deploy: ({ deploy, stale }: DeployModel) => (stale === null ? listDeployOffers(deploy) : []),
};
