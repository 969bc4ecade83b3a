import { areBrought } from './broughtVersionShapes';
import { areTexts, isJsonObject, isMissing, isNestedTooDeep, isText, NESTED, type JsonObject } from './json';
import { INPUTS, type InputName } from './verbs';

/**
 * A person can send a workflow a signal by hand, from the Web UI or with `temporal workflow signal`. A signal with
 * another shape than Conveyor's would fail the workflow task again and again, or be obeyed. It is recognised here (for
 * pipelines in domain/pipeline/shapes.ts) and ignored.
 */

const isInteger = (value: unknown): boolean => Number.isSafeInteger(value);
/** Whether a value is a valid date, in ms since the epoch. */
export const isTime = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) <= 8.64e15;
const hasTexts = (value: unknown, ...fields: readonly string[]): value is JsonObject =>
  isJsonObject(value) && fields.every((field) => isText(value[field]));

export const isPolicy = (value: unknown): boolean =>
  isJsonObject(value) &&
  areTexts(value['owners']) &&
  isJsonObject(value['groups']) &&
  Object.values(value['groups']).every(areTexts);

export const isFreezeNotice = (value: unknown): boolean =>
  isJsonObject(value) && (value['by'] === null || hasTexts(value['by'], 'actor', 'reason'));

export const isOvertakingNotice = (value: unknown): boolean => hasTexts(value, 'why') && isInteger(value['by']);

export const isAdmitted = (value: unknown): boolean =>
  hasTexts(value, 'action') &&
  hasTexts(value['admission'], 'kind') &&
  (isMissing(value['admission']['uses']) || areTexts(value['admission']['uses']));

export const isWaitNotice = (value: unknown): boolean =>
  hasTexts(value, 'action', 'why') && (isMissing(value['untilMs']) || isTime(value['untilMs']));

export const isPauseNotice = (value: unknown): boolean =>
  hasTexts(value, 'action', 'reason') && (value['phase'] === null || isText(value['phase']));

export const isAlarmNotice = (value: unknown): boolean =>
  hasTexts(value, 'action') &&
  (value['alarm'] === null || (hasTexts(value['alarm'], 'reason') && isAlarmKind(value['alarm']['kind']))) &&
  (isMissing(value['answeredBy']) || isText(value['answeredBy']));

const isAlarmKind = (value: unknown): boolean => value === 'paused' || value === 'reverted';

export const isPageAnswer = (value: unknown): boolean =>
  hasTexts(value, 'by') && isTime(value['atMs']) && (value['action'] === null || isText(value['action']));

export const isLockGrant = (value: unknown): boolean =>
  hasTexts(value, 'lock') && isInteger(value['fence']) && (isMissing(value['brought']) || areBrought(value['brought']));

const REPORTED = ['waiting', 'running', 'succeeded', 'failed', 'cancelled', 'notStarted'];

export const isShardReport = (value: unknown): boolean =>
  isJsonObject(value) &&
  isInteger(value['index']) &&
  isJsonObject(value['report']) &&
  REPORTED.every((field) => isInteger((value['report'] as JsonObject)[field])) &&
  Array.isArray((value['report'] as JsonObject)['failures']);

export const isChildEnd = (value: unknown): boolean =>
  hasTexts(value, 'pipeline', 'state') && (value['number'] === null || isInteger(value['number']));

/** Why the input of a verb is invalid. */
export function whyNoCommand(input: unknown): string | undefined {
  if (!isJsonObject(input)) return 'its input is not an object';
  if (isNestedTooDeep(input)) return `its input is ${NESTED}`;
  const wrong = Object.entries(input).find(([field, value]) => value !== undefined && !isField(field, value));
  return wrong && `its ${wrong[0]} has the wrong type`;
}

function isField(field: string, value: unknown): boolean {
  if (['actor', 'reason', 'permitted'].includes(field)) return isText(value);
  if (field === 'vouched') return areTexts(value);
  if (field === 'proof') return hasTexts(value, 'verb', 'id') && isTime(value['atMs']);
  if (!(field in INPUTS)) return true;
  const { is } = INPUTS[field as InputName];
  return is === 'flag' || is === 'choice' ? typeof value === 'boolean' : isText(value);
}
