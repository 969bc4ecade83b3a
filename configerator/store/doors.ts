import { refuseTooMuch } from '../domain/commits';
import { conveyorError } from '../../domain/errors';
import { CONFIG_LIMITS } from '../../domain/limits';
import type { Override } from './port';

/** Refuses overrides that no store accepts. @throws ConveyorError `over-limit` or `invalid-text` */
export function refuseOverrides(overrides: readonly Override[]): void {
  refuseTooMuch(overrides);
  const { of, max } = CONFIG_LIMITS.hosts;
  const most = Math.max(0, ...overrides.map(({ hosts }) => hosts?.length ?? 0));
  if (most > max) throw conveyorError('over-limit', { what: of, size: String(most), limit: String(max) });
}
