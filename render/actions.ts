import { approvalWords } from '../domain/release/approval';
import type { ActionView, DeployStatus } from '../domain/views';
import { tint, type Colors, type View } from './paint';
import { phaseRows } from './phases';
import { clock, took, untilWords } from './times';
import { ACTION_SYMBOLS, describeLockHolder, progressBar } from './words';

/** Rows of one action in the tree of its release, with its deploy unfolded: name, type, state, bar, attempt, note. */
export function actionRows(
  action: ActionView,
  at: number,
  actions: readonly ActionView[],
  deploys: readonly DeployStatus[],
  view: View,
  colors: Colors,
): string[][] {
  const last = at === actions.length - 1;
  const { glyph, tone } = ACTION_SYMBOLS[action.state];
  const deploy = deploys.find((one) => one.id === action.deploy);
  const row = [
    `${last ? '└─ ' : '├─ '}${colors.bold(action.name)}`,
    colors.dim(action.type),
    tint(colors, tone, `${glyph} ${action.state}`),
    action.progress === null || action.endedAt !== null ? '' : progressBar(action.progress, colors),
    attemptWords(action),
    formatActionNote(action, deploy, view),
  ];
  return deploy ? [row, ...phaseRows(deploy, view, last ? '   ' : '│  ')] : [row];
}

/** The header already says what its deploy waits for. */
const withoutWait = ({ heldBy: _, ...action }: ActionView): ActionView => ({ ...action, blockedBy: null, until: null });

/** Links to pages of action services about running and failed actions. */
export function linksSection(actions: readonly ActionView[], colors: Colors): string[] {
  return actions.flatMap(({ name, state, url }) =>
    url && (state === 'running' || state === 'failed') ? [`${colors.bold(name)}  ${colors.underline(url)}`] : [],
  );
}

/** `attempt 2 of 3`; empty for a first attempt that is the only one. */
export function attemptWords({ attempt, attempts = 1 }: ActionView): string {
  if (attempt <= 1) return '';
  return attempts >= attempt ? `attempt ${attempt} of ${attempts}` : `attempt ${attempt}`;
}

/** Its time and message, or its wait; the header of a deploy already has the wait for its lock. */
export function formatActionNote(whole: ActionView, deploy: DeployStatus | undefined, view: View): string {
  const action = deploy?.summary.startsWith(whole.blockedBy ?? ' ') ? withoutWait(whole) : whole;
  const held = describeLockHolder(action, (iso) => clock(iso, view));
  const wait = action.until === null ? '' : ` (${untilWords(action.until, view)})`;
  if (action.pickBy !== null && action.endedAt === null) return `${pickWords(action.pickBy, action)}${wait}`;
  if (action.state === 'blocked' || action.state === 'waiting')
    return `${action.blockedBy ?? formatNeeds(action)}${wait}${held}`;
  const { carriedFrom } = action;
  if (carriedFrom !== undefined)
    return [`carried over: succeeded in #${carriedFrom}`, action.message ?? '']
      .filter((part) => part !== '')
      .join(' · ');
  const time = action.startedAt === null ? '' : took(action.startedAt, action.endedAt, view);
  const done = action.progress === null ? '' : `${Math.round(action.progress * 100)}% `;
  return [`${done}${time}`, `${action.message ?? action.blockedBy ?? ''}${wait}${held}`.trim()]
    .filter((part) => part !== '')
    .join(' · ');
}

const pickWords = (pickBy: readonly string[], { approval }: ActionView): string =>
  approval ? approvalWords(approval) : pickBy.length === 0 ? 'an owner may pick' : `${pickBy.join(', ')} may pick`;

const formatNeeds = (action: ActionView): string =>
  action.needs.length === 0 ? '' : `after ${action.needs.join(', ')}`;
