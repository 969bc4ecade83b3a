import type { State } from '../../sdk/updates';
import type { UnitRecord } from './records';
import type { KubeUnit } from './unitReader';

/** The memory of this push type: that of the sdk, and what pods need besides. */
export interface KubeState extends State {
  /** Workloads that pipelines have named, by unit. */
  enrolled?: Record<string, KubeUnit>;
  /** The pod of each slot, by unit. */
  places?: Record<string, PodPlace[]>;
  /** The images of versions, by unit. A version without a row is an image. */
  images?: Record<string, Record<string, string>>;
  /** Templates that are to change, by unit. */
  moves?: Record<string, PendingMove>;
  /** The last template that has changed, by unit: pods that began before that come late. */
  moved?: Record<string, Pick<PendingMove, 'from'>>;
}

export interface PodPlace {
  pod: string;
  uid: string;
  node: string;
  /** A change that was decided, until the pod has it. */
  change?: SlotChange;
  /** The pod was replaced by an old one after its update had ended: it gets the version again. */
  again?: SlotChange;
  /** How often others have set its image back in the middle of an update, and the version of the pod at which they did it last. */
  setBacks?: { readonly count: number; readonly at: string };
  /** It came while pods of an update were made that did not mean it. */
  isStray?: boolean;
  /** Others have changed the template since: a pod that is replaced is left as it comes. */
  isOvertaken?: boolean;
}

export interface SlotChange {
  readonly version: string;
  readonly update: string;
  /** ms since the epoch: when the pod was taken out of service. */
  drainedAt?: number;
}

/** A template that is to get the image of a version. */
export interface PendingMove extends UnitRecord {
  readonly update: string;
  /** The image and the version that the template had. */
  readonly from: string;
  readonly before: { readonly version: string; readonly update: string | null };
}

export const listPodPlaces = (state: KubeState, unit: string): readonly PodPlace[] => state.places?.[unit] ?? [];

/** The image of a version in a unit. */
export const findImage = (state: KubeState, unit: string, version: string): string =>
  state.images?.[unit]?.[version] ?? version;

const MOST_IMAGES = 200;

/** Remembers the image of a version; those of the earliest versions are forgotten. */
export function noteImage(state: KubeState, unit: string, version: string, image: string): void {
  if (version === image) return;
  const images = ((state.images ??= {})[unit] ??= {});
  delete images[version];
  images[version] = image;
  for (const old of Object.keys(images).slice(0, -MOST_IMAGES)) delete images[old];
}

/** Removes a unit from the memory, but for its settings. Its updates have ended. */
export function forgetUnit(state: KubeState, name: string, reason: string): void {
  delete state.units[name];
  for (const part of [state.places, state.images, state.moves, state.moved]) delete part?.[name];
  for (const { units } of Object.values(state.updates)) {
    const update = units[name];
    if (update?.state === 'active' || update?.state === 'paused') Object.assign(update, { state: 'ended', reason });
  }
}
