import type { Principal } from '../principals';

export type AccessDecision = AccessGrant | AccessDenial;

export interface AccessGrant {
  readonly allowed: true;
  /** A place in the configuration, such as `platform.pipelines.0.creators`, or a description if there is none. */
  readonly by: string;
  /** The group through which it applies; null for a principal named directly. */
  readonly through: Principal | null;
  readonly why: string;
}

export interface AccessDenial {
  readonly allowed: false;
  /** One sentence: what is missing, which rule would allow it, and who is in that rule. */
  readonly why: string;
}

export const grantAccess = (by: string, why: string, through: Principal | null = null): AccessGrant => ({
  ...{ allowed: true, by, why, through },
});

export const denyAccess = (why: string): AccessDenial => ({ allowed: false, why });
