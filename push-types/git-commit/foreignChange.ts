import type { DeployBranch } from './branch';
import { getDefinition, type CommitState } from './commitState';
import { describePlace } from './fileField';
import type { FieldReader } from './readings';

/** Who has changed a field, by which commit, and what to do. */
export async function explainChange(
  {
    state,
    branch,
    reader,
  }: { readonly state: CommitState; readonly branch: DeployBranch; readonly reader: FieldReader },
  {
    unit,
    path,
    tip,
    expected,
  }: { readonly unit: string; readonly path: string; readonly tip: string; readonly expected: string },
): Promise<string> {
  const { field } = getDefinition(state, unit);
  const readAt = async (revision: string | undefined): Promise<string | undefined> => {
    const reading =
      revision === undefined ? undefined : await reader.readOne(revision, path, field).catch(() => undefined);
    return reading !== undefined && 'value' in reading ? reading.value : undefined;
  };
  const value = await readAt(tip);
  for (const { id, parent, author, message } of await branch.listChanges(tip, path)) {
    if ((await readAt(id)) !== value || (await readAt(parent)) === value) continue;
    const [subject = ''] = message.split('\n');
    return `${path}: ${describePlace(field)} was ${expected}, and ${author} changed it to ${value} in ${id.slice(0, 12)} (${subject.slice(0, 100)}); that stays: revert that commit by hand, or release again to deploy over it`;
  }
  return `${path}: ${describePlace(field)} was ${expected}, and another changed it to ${value}; that stays: set it by hand, or release again to deploy over it`;
}
