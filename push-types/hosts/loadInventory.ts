import { dirname, resolve } from 'node:path';
import { HOSTS_LIMITS } from '../../sdk';
import { parseAnsible } from './ansible';
import { buildInventory, fillVariables, type Inventory } from './inventory';
import { readYamlFile } from './readYamlFile';
import { runToEnd } from './runProgram';
import { inventorySchema, type InventoryFile } from './settings';

/** Reads an inventory: the file, and the program that it names. */

interface LoadedInventory {
  readonly file: InventoryFile;
  readonly inventory: Inventory;
}

/** @throws Error that names the place of the mistake */
export async function loadInventory(path: string): Promise<LoadedInventory> {
  const parsed = inventorySchema.safeParse(readYamlFile(path, HOSTS_LIMITS.inventory.max));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${path}: ${issue?.path.map(String).join('.') || 'the file'}: ${issue?.message}`);
  }
  const file = parsed.data;
  const inventory = buildInventory(file, { ...file.groups, ...(await readProgram(file, dirname(path))) });
  for (const hosts of inventory.units.values())
    for (const host of hosts) for (const text of listTemplates(file)) fillVariables(text, host);
  return { file, inventory };
}

async function readProgram({ program }: InventoryFile, folder: string) {
  if (program === undefined) return {};
  const [name = '', ...args] = program.run;
  const argv = [name.startsWith('.') ? resolve(folder, name) : name, ...args];
  const { code, stdout, stderr } = await runToEnd(argv, {
    timeoutMs: program.timeout,
    mostBytes: HOSTS_LIMITS.inventory.max,
    cwd: folder,
  });
  if (code !== 0)
    throw new Error(`the inventory program ${name} ended with the code ${code}: ${stderr.trim().slice(-300)}`);
  try {
    return parseAnsible(stdout, program.groups);
  } catch (error) {
    throw new Error(
      `the inventory program ${name} is wrong: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The texts in which variables of a host stand. */
function listTemplates({ app, balancer }: InventoryFile): string[] {
  const server = balancer !== undefined && 'haproxy' in balancer ? [balancer.server] : [];
  return [app.service, ...(app.health ? [app.health.url] : []), ...(app.metrics ? [app.metrics.port] : []), ...server];
}
