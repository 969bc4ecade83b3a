import type { ExaminationView } from '../../domain/examination';
import type { SignInOffer } from '../../domain/signIn';
import type { StatsReport } from '../../domain/stats/report';
import type { Grouping } from '../../domain/stats/tallies';
import type { AuditPage, AuditQuery, ChainVerification } from '../../settings/audit/files';
import type { Question } from '../can';
import { question, type ClientOf } from './row';

export interface Me {
  readonly principal: string;
  readonly groups: readonly string[];
  /** How the caller signed in. */
  readonly door: string;
  readonly expiresAt: string | null;
}

/** A decision, by the rules of a server. */
export interface PermissionAnswer {
  readonly allowed: boolean;
  /** The rule, and the group through which it applies; null if none allows it. */
  readonly by: string | null;
  readonly through: string | null;
  readonly why: string;
}

/** Questions that only a server answers: about itself, its callers and its records. */
export const SERVER_QUESTIONS = {
  /** The identity of the caller on the server. @throws ConveyorError `unauthorized` */
  whoAmI: question<[], Me>('GET /v1/me'),
  /** The identity providers for signing in; a caller needs no token. */
  signInOffers: question<[], readonly SignInOffer[]>('GET /v1/sign-in'),
  /** @throws ConveyorError `unauthorized`; `usage` and `invalid-id` for an invalid question */
  whether: question<[asked: Question], PermissionAnswer>('POST /v1/can', (body) => ({ body })),
  /**
   * Examines how far work gets behind the server, which takes half a minute if parts do not answer. @throws
   * ConveyorError `unauthorized`; `not-found` from an older server
   */
  examine: question<[], ExaminationView>('POST /v1/examination'),
  /** One page, newest first. @throws ConveyorError `not-permitted` */
  audit: question<[query: Omit<AuditQuery, 'operation'>], AuditPage>(
    'GET /v1/audit',
    ({ pipeline, actor, outcome, since, limit, before: at }) => ({
      query: { pipeline, actor, outcome, since, limit, before: at && `${at.changes},${at.refusals}` },
    }),
  ),
  /** @throws ConveyorError `not-permitted` */
  verifyAudit: question<[], readonly ChainVerification[]>('GET /v1/audit/verification'),
  stats: question<[query: { since: string; by: Grouping }], StatsReport>('GET /v1/stats', (query) => ({ query })),
  configRepositories: question<[], readonly { readonly name: string }[]>('GET /v1/config'),
};

export type ServerQuestions = ClientOf<typeof SERVER_QUESTIONS>;
