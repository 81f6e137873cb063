#!/usr/bin/env node
import { runMain } from 'citty'
import { operatorCommand } from './operator/operator-command.ts'

await runMain(operatorCommand)
