import type { Answer } from '../../domain/config/held';
import type { Acknowledged } from '../store/port';

/** The packages that values of a proxy name. */
export interface HostPackages {
  /** What applications of this host get from now on. */
  setWanted(answer: Answer): void;
  /** What the acknowledgement of a version says besides. */
  getAcknowledgement(path: string, version: string): Pick<Acknowledged, 'loading' | 'refused' | 'peer'>;
}
