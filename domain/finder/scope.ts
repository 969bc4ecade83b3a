import { matches } from '../pattern';
import { escapeUnsafe } from '../plainText';
import type { FinderEvent } from './match';
import { MANUAL, OFFER, PIPELINE_OUTPUT } from './standard';

/**
 * The allowed events of a webhook source: `webhooks` of conveyor.config.yaml. Texts are patterns, in which `*` stands for any characters. A
 * source may name only the listed finders and pipelines; it may name any repositories and entries of `with`, unless some are listed.
 */
export interface WebhookScope {
  readonly finders: readonly string[];
  readonly pipelines: readonly string[];
  /** By their full names, `acme/kvstore`; all repositories in an event are checked against these. */
  readonly repositories?: readonly string[];
  /** By key. An event with another key in its `with` is refused. */
  readonly with?: Readonly<Record<string, readonly string[]>>;
}

/** The event of a delivery: for all subscribers, or for one pipeline. */
type Event =
  | FinderEvent
  | { readonly pipeline: string; readonly artifacts: readonly Pick<FinderEvent['artifact'], 'builtFrom'>[] };

/** The reason why a source may not send an event: it continues "the webhook source builds may not". */
export interface OutOfScope {
  readonly what: string;
  /** The alternative, if no scope can allow it. */
  readonly instead?: string;
}

/** No source publishes for these: people release, and workers know the outputs and offers of pipelines. */
const NOBODYS: Readonly<Record<string, string>> = {
  [MANUAL]: 'an owner releases with conveyor release, or POST /v1/pipelines/…/releases and a token',
  [PIPELINE_OUTPUT]: 'workers know by themselves what pipelines made',
  [OFFER]: 'workers know by themselves what pipelines offer',
};

/** Undefined if the source may send it. A source without a scope may send any event that some source may send. */
export function outOfScope(scope: WebhookScope | null, said: Event): OutOfScope | undefined {
  if ('finder' in said && Object.hasOwn(NOBODYS, said.finder))
    return { what: `publish for the finder ${said.finder}`, instead: NOBODYS[said.finder] ?? '' };
  if (scope === null) return undefined;
  const what = 'finder' in said ? notPublished(scope, said) : notAddressed(scope, said.pipeline);
  if (what !== undefined) return { what };
  const artifacts = 'finder' in said ? [said.artifact] : said.artifacts;
  const repository = artifacts.map((one) => one.builtFrom?.repository).find((one) => !mayName(scope, one));
  return repository === undefined ? undefined : { what: describeMention(repository) };
}

function notPublished(scope: WebhookScope, { finder, about }: FinderEvent): string | undefined {
  if (!isAmong(scope.finders, finder)) return `publish for the finder ${quoteDelivery(finder)}`;
  const said = Object.entries(about).flatMap(([key, values]) => [values].flat().map((value) => ({ key, value })));
  // An empty `with` must not bypass the allowed keys and values.
  if (said.length === 0 && scope.with !== undefined) return 'publish what has nothing in its with';
  const wrong = said.find((one) => !mayEnter(scope, one));
  if (wrong === undefined) return undefined;
  return wrong.key === 'repository' && scope.repositories !== undefined
    ? describeMention(wrong.value)
    : `publish what has ${quoteDelivery(wrong.key)} ${quoteDelivery(wrong.value)} in its with`;
}

function mayEnter(scope: WebhookScope, { key, value }: { readonly key: string; readonly value: string }): boolean {
  if (key === 'repository' && scope.repositories !== undefined) return mayName(scope, value);
  if (scope.with === undefined) return true;
  return Object.hasOwn(scope.with, key) && isAmong(scope.with[key] ?? [], value);
}

const notAddressed = (scope: WebhookScope, pipeline: string): string | undefined =>
  isAmong(scope.pipelines, pipeline) ? undefined : `address the pipeline ${quoteDelivery(pipeline)}`;

const describeMention = (repository: string): string => `speak of the repository ${quoteDelivery(repository)}`;

/** Names at forges are case-insensitive. */
function mayName({ repositories }: WebhookScope, repository: string | undefined): boolean {
  if (repositories === undefined || repository === undefined) return true;
  return isAmong(repositories.map(lower), lower(repository));
}

/**
 * The names of a repository in subscriptions: its full name, and its name alone if the scopes of all sources leave only one possible
 * owner.
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

/** The text of the delivery, without characters that control a terminal. */
const quoteDelivery = (text: string): string => escapeUnsafe(JSON.stringify(text.slice(0, MAX_QUOTED)));
