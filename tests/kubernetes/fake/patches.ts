import { areEqual, copy, isFields, type Fields, type Json } from './json';

/** The keys by which Kubernetes merges lists of a strategic merge patch; any other list is replaced (`patchMergeKey` of its types). */
const MERGE_KEYS: Readonly<Record<string, string>> = {
  ...{ containers: 'name', initContainers: 'name', ephemeralContainers: 'name', volumes: 'name', env: 'name' },
  ...{ ports: 'containerPort', volumeMounts: 'mountPath', conditions: 'type', ownerReferences: 'uid', podIPs: 'ip' },
  ...{ imagePullSecrets: 'name', hostAliases: 'ip', topologySpreadConstraints: 'topologyKey', addresses: 'type' },
};

export class PatchError extends Error {}

/** A strategic merge patch: objects merge, lists with a key merge by it, null deletes. */
export function patchStrategic(target: Json | undefined, patch: Json): Json {
  if (!isFields(patch)) return copy(patch);
  if (patch['$patch'] === 'replace') return withoutDirectives(patch);
  const result: Fields = isFields(target) ? copy(target) : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    const before = result[name];
    if (value === null) delete result[name];
    else if (Array.isArray(value)) result[name] = mergeList(name, before, value);
    else result[name] = isFields(value) ? patchStrategic(before, value) : value;
  }
  return result;
}

function mergeList(name: string, before: Json | undefined, patch: Json[]): Json {
  const key = MERGE_KEYS[name];
  if (key === undefined || !Array.isArray(before)) return patch.map((item) => withoutDirectives(item));
  let result = before.map((item) => copy(item));
  for (const item of patch) {
    if (!isFields(item)) throw new PatchError(`an item of ${name} is no object`);
    if (item['$patch'] === 'replace') {
      result = [];
      continue;
    }
    const value = item[key];
    if (value === undefined)
      throw new PatchError(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`);
    const at = result.findIndex((one) => isFields(one) && one[key] === value);
    if (item['$patch'] === 'delete') result = result.filter((_, index) => index !== at);
    else if (at < 0) result.push(withoutDirectives(item));
    else result[at] = patchStrategic(result[at], item);
  }
  return result;
}

const withoutDirectives = (value: Json): Json =>
  isFields(value)
    ? Object.fromEntries(
        Object.entries(value).flatMap(([name, each]) =>
          name.startsWith('$') || each === null ? [] : [[name, withoutDirectives(each)]],
        ),
      )
    : value;

/** A merge patch (RFC 7386). */
export function patchMerge(target: Json | undefined, patch: Json): Json {
  if (!isFields(patch)) return copy(patch);
  const result: Fields = isFields(target) ? copy(target) : {};
  for (const [name, value] of Object.entries(patch))
    if (value === null) delete result[name];
    else result[name] = patchMerge(result[name], value);
  return result;
}

/** A list of operations (RFC 6902). */
export function patchJson(target: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw new PatchError('a JSON patch is a list');
  const holder = { root: copy(target) };
  for (const operation of operations) applyOperation(holder, isFields(operation) ? operation : {});
  return holder.root;
}

function applyOperation(holder: { root: Json }, { op, path, from, value }: Fields): void {
  const read = (pointer: string): Json => {
    const { parent, key } = locate(holder, pointer);
    const found = Array.isArray(parent) ? parent[Number(key)] : parent[key];
    if (found === undefined) throw new PatchError(`the path ${pointer} does not exist`);
    return found;
  };
  const set = (pointer: string, given: Json, isReplace = false): void => {
    const { parent, key } = locate(holder, pointer);
    if (!Array.isArray(parent)) parent[key] = given;
    else if (isReplace) parent[Number(key)] = given;
    else parent.splice(key === '-' ? parent.length : Number(key), 0, given);
  };
  const remove = (pointer: string): void => {
    read(pointer);
    const { parent, key } = locate(holder, pointer);
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else delete parent[key];
  };
  const at = String(path);
  if (op === 'test') {
    if (!areEqual(read(at), value)) throw new PatchError(`testing value ${at} failed`);
  } else if (op === 'add') set(at, copy(value ?? null));
  else if (op === 'replace') {
    read(at);
    set(at, copy(value ?? null), true);
  } else if (op === 'remove') remove(at);
  else if (op === 'move') {
    const moved = copy(read(String(from)));
    remove(String(from));
    set(at, moved);
  } else if (op === 'copy') set(at, copy(read(String(from))));
  else throw new PatchError(`there is no operation ${String(op)}`);
}

function locate(holder: { root: Json }, pointer: string): { parent: Json[] | Fields; key: string } {
  const keys = pointer.split('/').map((part) => part.replace(/~1/g, '/').replace(/~0/g, '~'));
  let parent: Json | undefined = holder as Fields;
  for (const key of ['root', ...keys.slice(1, -1)])
    parent = Array.isArray(parent) ? parent[Number(key)] : isFields(parent) ? parent[key] : undefined;
  if (!Array.isArray(parent) && !isFields(parent)) throw new PatchError(`the path ${pointer} does not exist`);
  return { parent, key: keys.at(-1) ?? '' };
}
