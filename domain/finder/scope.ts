import { matches } from '../pattern';
import { writtenOut } from '../plainText';
import type { FinderEvent } from './match';
import { MANUAL, PIPELINE_OUTPUT } from './standard';

/**
 * What the source of a webhook may say: `webhooks` of conveyor.config.yaml. Texts are patterns, in which `*` stands for anything. Of
 * finders and pipelines it may name those listed and no others; of repositories and entries of `with` any, unless some are listed.
 */
export interface WebhookScope {
  readonly finders: readonly string[];
  readonly pipelines: readonly string[];
  /** By their full names, `acme/kvstore`; whatever an event says of a repository is held against these. */
  readonly repositories?: readonly string[];
  /** By key. An event that has another key in its `with` is refused. */
  readonly with?: Readonly<Record<string, readonly string[]>>;
}

/** What a delivery says: to whoever subscribes, or to one pipeline. */
type Event =
  | FinderEvent
  | { readonly pipeline: string; readonly artifacts: readonly Pick<FinderEvent['artifact'], 'builtFrom'>[] };

/** Why a source may not say something: it continues "the webhook source builds may not". */
export interface OutOfScope {
  readonly what: string;
  /** Who may, where no scope can allow it. */
  readonly instead?: string;
}

/** Nobody publishes for these: people release, and workers know what pipelines made. */
const NOBODYS: Readonly<Record<string, string>> = {
  [MANUAL]: 'an owner releases with conveyor release, or POST /v1/pipelines/…/releases and a token',
  [PIPELINE_OUTPUT]: 'workers know by themselves what pipelines made',
};

/** Undefined where the source may say it. A source without a scope may say whatever somebody may publish. */
export function outOfScope(scope: WebhookScope | null, said: Event): OutOfScope | undefined {
  if ('finder' in said && Object.hasOwn(NOBODYS, said.finder))
    return { what: `publish for the finder ${said.finder}`, instead: NOBODYS[said.finder] ?? '' };
  if (scope === null) return undefined;
  const what = 'finder' in said ? notPublished(scope, said) : notAddressed(scope, said.pipeline);
  if (what !== undefined) return { what };
  const artifacts = 'finder' in said ? [said.artifact] : said.artifacts;
  const repository = artifacts.map((one) => one.builtFrom?.repository).find((one) => !mayName(scope, one));
  return repository === undefined ? undefined : { what: speakOf(repository) };
}

function notPublished(scope: WebhookScope, { finder, about }: FinderEvent): string | undefined {
  if (!isAmong(scope.finders, finder)) return `publish for the finder ${quoted(finder)}`;
  const said = Object.entries(about).flatMap(([key, values]) => [values].flat().map((value) => ({ key, value })));
  // An empty `with` must not get around the keys and values that are allowed.
  if (said.length === 0 && scope.with !== undefined) return 'publish what has nothing in its with';
  const wrong = said.find((one) => !mayEnter(scope, one));
  if (wrong === undefined) return undefined;
  return wrong.key === 'repository' && scope.repositories !== undefined
    ? speakOf(wrong.value)
    : `publish what has ${quoted(wrong.key)} ${quoted(wrong.value)} in its with`;
}

function mayEnter(scope: WebhookScope, { key, value }: { readonly key: string; readonly value: string }): boolean {
  if (key === 'repository' && scope.repositories !== undefined) return mayName(scope, value);
  if (scope.with === undefined) return true;
  return Object.hasOwn(scope.with, key) && isAmong(scope.with[key] ?? [], value);
}

const notAddressed = (scope: WebhookScope, pipeline: string): string | undefined =>
  isAmong(scope.pipelines, pipeline) ? undefined : `address the pipeline ${quoted(pipeline)}`;

const speakOf = (repository: string): string => `speak of the repository ${quoted(repository)}`;

/** Forges take no notice of upper and lower case in names. */
function mayName({ repositories }: WebhookScope, repository: string | undefined): boolean {
  if (repositories === undefined || repository === undefined) return true;
  return isAmong(repositories.map(lower), lower(repository));
}

/**
 * How subscriptions may call a repository: by its full name, and by its name alone where the scopes of all sources leave one owner
 * that it can be of.
 */
export function repositoryNames(repository: string, scopes: readonly (WebhookScope | null)[]): readonly string[] {
  const [owner, name] = parts(lower(repository));
  const patterns = scopes.flatMap((scope) => scope?.repositories ?? []).map((pattern) => parts(lower(pattern)));
  const owners = new Set(patterns.filter(([, named]) => matches(named, name)).map(([of]) => of));
  return owners.size === 1 && owners.has(owner) ? [parts(repository)[1], repository] : [repository];
}

function parts(fullName: string): readonly [owner: string, name: string] {
  const at = fullName.lastIndexOf('/');
  return [fullName.slice(0, Math.max(0, at)), fullName.slice(at + 1)];
}

const lower = (text: string): string => text.toLowerCase();

const isAmong = (patterns: readonly string[], text: string): boolean =>
  patterns.some((pattern) => matches(pattern, text));

const MAX_QUOTED = 200;

/** As the delivery has it, with nothing in it that a terminal obeys. */
const quoted = (text: string): string => writtenOut(JSON.stringify(text.slice(0, MAX_QUOTED)));
