import type { AccessDecision } from '../domain/access/decide';
import { foldAll, paint, type View } from './paint';

/** The answer of `conveyor can`. */
export interface PermissionText {
  readonly allowed: boolean;
  readonly by: string | null;
  readonly through: string | null;
  readonly why: string;
  /** The source of the rules: a file, or the configuration of a server. */
  readonly rules: string;
}

export function renderPermission({ allowed, by, through, why, rules }: PermissionText, view: View): string {
  const colors = paint(view.color);
  const lines = allowed
    ? [`${colors.green('yes')}: ${why}`, `  by ${by}${through === null ? '' : `, through ${through}`} (${rules})`]
    : [`${colors.red('no')}: ${why}`];
  return foldAll(lines, view).join('\n');
}

/** `✔ yes: admins may do everything, by platform.admins, through group:sre` */
export function permissionText(decision: AccessDecision): string {
  if (!decision.allowed) return `✖ no: ${decision.why}`;
  const { by, through, why } = decision;
  return `✔ yes: ${why}, by ${by}${through === null ? '' : `, through ${through}`}`;
}
