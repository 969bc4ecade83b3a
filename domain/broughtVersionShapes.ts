import type { BroughtVersion, BroughtReport, ReplacedNotice } from './broughtVersions';
import { areTexts, isJsonObject, isText } from './json';
import { SERVICE_LIMITS } from './limits';
import { jsonBytes } from './size';
import { areMarks } from './unitMarks';

const areBroughtArtifacts = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (one) => isJsonObject(one) && isText(one['name']) && isText(one['version']) && isJsonObject(one['metadata']),
  );

/** A person can send a message to a lock, a deploy or a pipeline by hand: messages without these shapes are ignored. */
export const isBrought = (value: unknown): value is BroughtReport =>
  isJsonObject(value) &&
  isSmall(value) &&
  [value['pipeline'], value['action'], value['version']].every(isText) &&
  isTime(value['at']) &&
  [value['release'], value['config']].every(Number.isSafeInteger) &&
  areBroughtArtifacts(value['artifacts']) &&
  [value['units'], value['kept']].every((units) => units === undefined || areTexts(units)) &&
  (value['marks'] === undefined || areMarks(value['marks']));

/** Locks and pipelines keep it in their state, so its size is limited. */
const isSmall = (value: object): boolean => jsonBytes(value) <= SERVICE_LIMITS.broughtEach.max;

const isTime = (value: unknown): boolean => isText(value) && Number.isFinite(Date.parse(value));

export const areBrought = (value: unknown): value is readonly BroughtVersion[] =>
  Array.isArray(value) && value.every(isBrought);

export const isReplacedNotice = (value: unknown): value is ReplacedNotice =>
  isJsonObject(value) &&
  Number.isSafeInteger(value['release']) &&
  [value['pipeline'], value['action']].every(isText) &&
  (value['by'] === null || isReplaced(value['by']));

const isReplaced = (value: unknown): boolean =>
  isJsonObject(value) &&
  isSmall(value) &&
  [value['by'], value['version']].every(isText) &&
  isTime(value['at']) &&
  areBroughtArtifacts(value['artifacts']) &&
  (value['on'] === undefined || isText(value['on']));
