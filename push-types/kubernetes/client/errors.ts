import type { KubeStatus } from './objects';

/**
 * The meaning of a failure for a caller. `Conflict`: the object has changed since it was read. `Gone`: the version is too old, or the watch silent: list again. `TooMany`: the
 * server, or a disruption budget in the case of an eviction, wants the request later. `Unavailable`: the server did not answer, or not with an answer of
 * Kubernetes; the request may have been executed. `Refused`: everything else that the server refuses.
 */
export type KubernetesErrorKind =
  | 'Conflict'
  | 'AlreadyExists'
  | 'NotFound'
  | 'Unauthorized'
  | 'Forbidden'
  | 'Gone'
  | 'Invalid'
  | 'TooMany'
  | 'Unavailable'
  | 'Refused';

/** A request in words. */
export interface RequestWords {
  /** In the language of RBAC: `patch`. */
  readonly verb: string;
  /** `Pod shop/web-1`, or `Pods in shop`. */
  readonly target: string;
  /** The cluster, for messages. */
  readonly cluster: string;
  /** What a Role would have to name. */
  readonly right?: NamedRight;
}

interface NamedRight {
  /** `deployments of apps`, or `pods/status`. */
  readonly resource: string;
  /** Undefined for the whole cluster. */
  readonly namespace: string | undefined;
}

/** A request that failed; the message names the cluster, the verb, the object and the reason. */
export class KubernetesError extends Error {
  override readonly name = 'KubernetesError';
  readonly kind: KubernetesErrorKind;
  readonly verb: string;
  /** The status of HTTP; null if there was no answer. */
  readonly status: number | null;
  /** The reason in the answer, such as `Conflict` or `AlreadyExists`; empty without one. */
  readonly reason: string;
  /** The wait that the server wants before the next try. */
  readonly retryAfterMs: number | undefined;
  /** The account lacks the right; other refusals with the same status come from quotas and admission. */
  readonly isMissingRight: boolean;
  /** Reasons of the details, such as `DisruptionBudget`. */
  readonly causes: readonly string[];

  constructor(words: RequestWords, failure: KubernetesFailure, options?: { readonly cause?: unknown }) {
    super(`${words.cluster}: ${wordFailure(words, failure)}`, options);
    this.kind = failure.kind;
    this.verb = words.verb;
    this.status = failure.status;
    this.reason = failure.reason ?? '';
    this.retryAfterMs = failure.retryAfterMs;
    this.isMissingRight = isMissingRight(failure);
    this.causes = failure.causes ?? [];
  }
}

interface KubernetesFailure {
  readonly kind: KubernetesErrorKind;
  readonly status: number | null;
  readonly reason?: string;
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  readonly causes?: readonly string[];
}

/** Whether an error is of this kind. */
export const isKubernetesError = (error: unknown, ...kinds: readonly KubernetesErrorKind[]): error is KubernetesError =>
  error instanceof KubernetesError && (kinds.length === 0 || kinds.includes(error.kind));

/** The error of an answer. @param header the header `Retry-After` */
export function readFailure(
  words: RequestWords,
  status: number,
  body: KubeStatus | undefined,
  { header, excerpt = '' }: { readonly header?: string | undefined; readonly excerpt?: string } = {},
): KubernetesError {
  const reason = body?.reason ?? '';
  const seconds = body?.details?.retryAfterSeconds;
  const retryAfterMs = parseRetryAfter(header) ?? (seconds === undefined ? undefined : seconds * 1000);
  const causes = (body?.details?.causes ?? []).map((cause) => cause.reason);
  const message = body?.message || excerpt || `HTTP ${status}`;
  return new KubernetesError(words, {
    kind: classifyStatus(status, reason),
    status,
    reason,
    message,
    retryAfterMs,
    causes,
  });
}

/** In ms; a date of HTTP, which proxies may send, is not read. */
const parseRetryAfter = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,6}$/.test(header) ? Number(header) * 1000 : undefined;

function classifyStatus(status: number, reason: string): KubernetesErrorKind {
  if (status === 409) return reason === 'AlreadyExists' ? 'AlreadyExists' : 'Conflict';
  if (status >= 500) return 'Unavailable';
  return BY_STATUS[status] ?? 'Refused';
}

const BY_STATUS: Readonly<Record<number, KubernetesErrorKind>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  410: 'Gone',
  422: 'Invalid',
  429: 'TooMany',
};

/** Quotas, webhooks and policies answer 403 as missing rights do, and only the message differs: `User "…" cannot patch resource "pods"`. */
const isMissingRight = ({ kind, message }: KubernetesFailure): boolean =>
  kind === 'Forbidden' && /\bUser "[^"]*" cannot /.test(message) && !/admission webhook|exceeded quota/.test(message);

function wordFailure({ verb, target, right }: RequestWords, failure: KubernetesFailure): string {
  const { kind, message } = failure;
  if (isMissingRight(failure)) {
    const place = right?.namespace === undefined ? 'in the whole cluster' : `in namespace ${right.namespace}`;
    const grant = right === undefined ? 'this verb' : `the verb ${verb} for ${right.resource} ${place}`;
    return `may not ${verb} ${target}: ${message}; give the account of Conveyor ${grant}`;
  }
  if (kind === 'Unauthorized') return `does not accept our credentials (${verb} ${target}): ${message}`;
  return `cannot ${verb} ${target}: ${message}`;
}
