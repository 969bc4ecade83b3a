import { areTexts, isJsonObject, isMissing, isText, type JsonObject } from '../json';
import { isTime, whyNoCommand } from '../messageShapes';

/**
 * Any user of Temporal can send a pipeline's workflow a message by hand, from the Web UI or by `temporal workflow signal`. A message
 * with another shape than those of releases would fail the workflow task again and again, so it is recognised here and ignored.
 */

const isArtifact = (value: unknown): boolean =>
  isJsonObject(value) && isText(value['name']) && isText(value['version']) && isJsonObject(value['metadata']);

export const areArtifacts = (value: unknown): boolean => Array.isArray(value) && value.every(isArtifact);

const isEndedDeploy = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['action']) &&
  areArtifacts(value['artifacts']) &&
  isDeployResult(value['result']) &&
  (isMissing(value['uses']) || areTexts(value['uses']));

/** From a release that has ended while it was being reverted. */
export const isRollBack = (value: unknown): boolean =>
  isJsonObject(value) &&
  Number.isSafeInteger(value['of']) &&
  whyNoCommand(value) === undefined &&
  (isMissing(value['settled']) || areEndedDeploys(value['settled']));

const areEndedDeploys = (value: unknown): boolean => Array.isArray(value) && value.every(isEndedDeploy);

const isDeployResult = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['outcome']) &&
  isText(value['version']) &&
  isText(value['reason']) &&
  isJsonObject(value['spans']) &&
  Object.values(value['spans']).every(Number.isFinite) &&
  [value['skipped'], value['overridden']].every((list) => isMissing(list) || Array.isArray(list)) &&
  (value['reverted'] === null || isJsonObject(value['reverted'])) &&
  (isMissing(value['held']) || areHeld(value['held'])) &&
  (isMissing(value['leaves']) || isInheritance(value['leaves']));

/** An action of a release, by name. */
export const isActionOfRelease = (value: unknown): boolean =>
  isJsonObject(value) &&
  Number.isInteger(value['release']) &&
  isText(value['action']) &&
  value['action'].length <= MAX_NAME;

const MAX_NAME = 63;

export const isReady = (value: unknown): boolean =>
  isJsonObject(value) &&
  isActionOfRelease(value) &&
  areArtifacts(value['artifacts']) &&
  (isMissing(value['mutex']) || areTexts(value['mutex'])) &&
  (isMissing(value['opensAtMs']) || isTime(value['opensAtMs'])) &&
  (isMissing(value['later']) ||
    (isJsonObject(value['later']) &&
      isText(value['later']['why']) &&
      (isMissing(value['later']['untilMs']) || isTime(value['later']['untilMs']))));

export const isOver = (value: unknown): boolean =>
  isJsonObject(value) &&
  isActionOfRelease(value) &&
  (isMissing(value['settled']) || isEndedDeploy(value['settled'])) &&
  (isMissing(value['leaves']) || isInheritance(value['leaves']));

const isInheritance = (value: unknown): boolean =>
  isJsonObject(value) &&
  areTexts(value['left']) &&
  isSnapshot(value['before']) &&
  (value['settled'] === undefined || areTexts(value['settled']));

const isSnapshot = (value: unknown): boolean =>
  isJsonObject(value) &&
  (value['units'] === undefined
    ? arePages(value)
    : Array.isArray(value['units']) && value['units'].every((unit) => isJsonObject(unit) && isText(unit['id'])));

const areHeld = (value: unknown): boolean => isJsonObject(value) && (areTexts(value['ids']) || arePages(value));

const arePages = (value: JsonObject): boolean => isText(value['at']) && Number.isInteger(value['pages']);

export const isResult = (value: unknown): boolean =>
  isJsonObject(value) &&
  Number.isInteger(value['number']) &&
  isText(value['state']) &&
  isText(value['endedAt']) &&
  !Number.isNaN(Date.parse(value['endedAt'])) &&
  areArtifacts(value['artifacts']) &&
  areEndedDeploys(value['deploys']);

/** Whether a spec that did not come through Conveyor's `apply` can be run at all. */
export const isSpec = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['pipeline']) &&
  areTexts(value['owners']) &&
  ['labels', 'schedule', 'releases', 'artifacts', 'mutex', 'actions'].every((key) => isJsonObject(value[key])) &&
  Object.values(value['actions'] as JsonObject).every(isAction) &&
  Object.values(value['artifacts'] as JsonObject).every((one) => isJsonObject(one) && isText(one['finder']));

/** Whether blackouts name a calendar file, which workflows cannot read. */
export function namesCalendar(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const actions = isJsonObject(value['actions']) ? Object.values(value['actions']) : [];
  const lists = [value, ...actions].map((holder) => (isJsonObject(holder) ? holder['blackouts'] : undefined));
  return lists.some((list) => Array.isArray(list) && list.some((one) => isJsonObject(one) && one['ics'] !== undefined));
}

const isAction = (value: unknown): boolean =>
  isJsonObject(value) &&
  isText(value['type']) &&
  isJsonObject(value['with']) &&
  isJsonObject(value['retry']) &&
  ['needs', 'inputs', 'outputs', 'mutex'].every((key) => areTexts(value[key])) &&
  Array.isArray(value['when']);
