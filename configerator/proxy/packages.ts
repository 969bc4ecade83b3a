import type { Answer } from '../domain/heldValue';
import type { HostAcknowledgement } from '../store/port';

/** The packages that values of a proxy name. */
export interface HostPackages {
  /** Sets the value that applications of this host get from now on. */
  setWanted(answer: Answer): void;
  /** The package's part of the acknowledgement of a version. */
  getAcknowledgement(path: string, version: string): Pick<HostAcknowledgement, 'loading' | 'refused' | 'peer'>;
}
