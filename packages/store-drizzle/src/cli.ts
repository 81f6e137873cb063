#!/usr/bin/env node
import { runMain } from 'citty'
import { storeCommand } from './cli/store-command.ts'

await runMain(storeCommand)
