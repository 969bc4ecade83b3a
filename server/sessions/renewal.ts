import { sessionEnd, type Session, type SessionProof } from '../../domain/sessions/session';
import { SESSION_LIMITS } from '../../domain/limits';
import { MINUTE_MS } from '../../domain/milliseconds';
import type { ConfirmedPerson, PageProviders, RenewalAnswer } from './providers';

/** A page does not wait longer for a provider. Its answer is then used by the next request. */
const RENEWAL_PATIENCE_MS = 1_500;
/** A renewal token may be valid only once, so requests that still bring the old one get the answer that it had. */
const RENEWAL_KEPT_MS = 10 * MINUTE_MS;
/** Without an answer, the provider is asked again after this time. */
const RENEWAL_RETRY_MS = MINUTE_MS;

type OidcProof = Extract<SessionProof, { kind: 'oidc' }>;

interface RenewalQuestion {
  readonly answer: Promise<RenewalAnswer>;
  readonly atMs: number;
  unanswered: boolean;
}

/** Asks the providers again whether people of sessions are still who they were. */
export class SessionRenewal {
  /** By renewal token. */
  private readonly asked = new Map<string, RenewalQuestion>();

  constructor(
    private readonly providers: Pick<PageProviders, 'renew'>,
    private readonly now: () => number,
  ) {}

  /**
   * The session, renewed; the same session if the provider does not answer in time; `refused` if it no longer vouches
   * for the person.
   */
  async renew(session: Session): Promise<Session | 'refused'> {
    const { proof } = session;
    if (proof.kind !== 'oidc') return confirmSession(session, this.now());
    if (proof.refreshToken === null) return session;
    const answer = await awaitInTime(this.ask(session, proof, proof.refreshToken));
    if (answer === 'refused') return 'refused';
    return answer === 'unanswered' ? session : applyRenewal(session, proof, answer, this.now());
  }

  private ask({ principal }: Session, { entry }: OidcProof, refreshToken: string): Promise<RenewalAnswer> {
    const known = this.asked.get(refreshToken);
    const keptMs = known?.unanswered === true ? RENEWAL_RETRY_MS : RENEWAL_KEPT_MS;
    if (known !== undefined && this.now() - known.atMs < keptMs) return known.answer;
    const answer = this.providers.renew(entry, refreshToken, principal);
    const asked: RenewalQuestion = { answer, atMs: this.now(), unanswered: false };
    void answer.then((got) => void (asked.unanswered = got === 'unanswered'));
    this.asked.delete(refreshToken);
    this.asked.set(refreshToken, asked);
    const [oldest] = this.asked.keys();
    if (this.asked.size > SESSION_LIMITS.renewals.max && oldest !== undefined) this.asked.delete(oldest);
    return answer;
  }
}

const confirmSession = (session: Session, nowMs: number): Session => ({
  ...session,
  confirmedAtMs: nowMs,
  untilMs: sessionEnd(nowMs, session.signedInAtMs),
});

const applyRenewal = (
  session: Session,
  proof: OidcProof,
  { identity: { groups, expiresAtMs }, refreshToken }: ConfirmedPerson,
  nowMs: number,
): Session => ({
  ...confirmSession(session, nowMs),
  ...{ groups, proof: { ...proof, refreshToken } },
  untilMs: sessionEnd(nowMs, session.signedInAtMs, idTokenEnd(refreshToken, expiresAtMs)),
});

/** Only an ID token that nothing can renew ends the session. */
export const idTokenEnd = (refreshToken: string | null, expiresAtMs: number | null): number =>
  refreshToken === null ? (expiresAtMs ?? Infinity) : Infinity;

async function awaitInTime(answer: Promise<RenewalAnswer>): Promise<RenewalAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<RenewalAnswer>((resolve) => {
    timer = setTimeout(() => resolve('unanswered'), RENEWAL_PATIENCE_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
