import type { KeptUnits } from '../broughtVersions';
import { formatNamed } from './unavailable';

/** `web-x, web-y keep web:9, which web-hotfix/1 has brought there since` */
export const describeKeptUnits = ({ by, version, ...units }: KeptUnits): string =>
  `${formatNamed(units)} ${units.count === 1 ? 'keeps' : 'keep'} ${version}, which ${by} has brought there since`;

export const whyAllKept = (kept: KeptUnits): string => `nothing was updated: ${describeKeptUnits(kept)}`;
